"""Which values may be shown is found once for the tables of a step."""

from lake_spec.model import Column, Product, ProductTable, Sensitivity
from lake_spark.tables import sensitivity
from lake_spark.tables.sensitivity import DomainSensitivity


def spec(name, mark):
    columns = (("id", Column("int")), ("v", Column("int", sensitivity=mark)))
    about = ("shop", "About it", "shop-data", Product(sql="x.sql"), ("id",))
    return ProductTable(name, *about, columns=columns)


def test_a_domain_is_looked_through_once_and_each_table_has_its_own_marks(monkeypatch):
    looks = []

    class Counted(sensitivity.ColumnSensitivity):
        def __init__(self, tables):
            looks.append(tuple(tables))
            super().__init__(tables)

    monkeypatch.setattr(sensitivity, "ColumnSensitivity", Counted)
    tables = (spec("a", None), spec("b", Sensitivity.PERSONAL))
    known, found = DomainSensitivity(), []
    for each in tables:
        of_domain = known.of(tables, each)
        found.append([of_domain.may_show(each, name) for name in ("id", "v")])
    assert found == [[True, True], [False, False]]
    assert looks == [(), tables]
    assert not known.of((), tables[1]).may_show(tables[1], "v") and looks[2:] == [
        (tables[1],)
    ]
