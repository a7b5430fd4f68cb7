"""Which values a profile may show is found once for the tables of a step."""

from types import SimpleNamespace

from lake_spec.model import Column, Product, Sensitivity, TableSpec
from lake_spark.profiling import profile
from lake_spark.profiling.profile import DomainSensitivity


def spec(name, sensitivity):
    columns = (("id", Column("int")), ("v", Column("int", sensitivity=sensitivity)))
    about = ("shop", "About it", "shop-data", Product(sql="x.sql"), ("id",))
    return TableSpec(name, *about, columns=columns)


def test_a_domain_is_looked_through_once_and_each_table_has_its_own_marks(monkeypatch):
    looks = []

    class Counted(profile.ColumnSensitivity):
        def __init__(self, tables):
            looks.append(tuple(tables))
            super().__init__(tables)

    monkeypatch.setattr(profile, "ColumnSensitivity", Counted)
    tables = (spec("a", None), spec("b", Sensitivity.PERSONAL))
    known, found = DomainSensitivity(), []
    for each in tables:
        run = SimpleNamespace(spec=each, domain_tables=tables)
        found.append([known.may_show(run, name) for name in ("id", "v")])
    assert found == [[True, True], [False, False]]
    assert looks == [(), tables]
    alone = SimpleNamespace(spec=tables[1], domain_tables=())
    assert not known.may_show(alone, "v") and looks[2:] == [(tables[1],)]
