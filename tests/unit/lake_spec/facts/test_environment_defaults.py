"""What a table leaves out is as its environment says; what it says itself counts."""

from dataclasses import replace

from lake_spec.facts.environment_defaults import with_environment_defaults
from lake_spec.model import ReadableAs, Storage
from lake_spec.platform.jars import ICEBERG, jars_of

from tests.unit.lake_infra.lakes import domain, environment

BOTH = environment(readable_as=tuple(ReadableAs))


def sales(*formats):
    """A domain with a table for each setting."""
    spec = domain("sales", *(f"sales/t{number}" for number, _ in enumerate(formats)))
    tables = zip(spec.tables, formats)
    return replace(
        spec,
        tables=tuple(
            replace(table, storage=Storage(buckets=4, readable_as=each))
            for table, each in tables
        ),
    )


def test_tables_without_formats_have_those_of_the_environment():
    given = sales(None, (ReadableAs.DELTA,), ())
    found = with_environment_defaults(given, BOTH).tables
    assert [table.storage.formats for table in found] == [
        (ReadableAs.ICEBERG, ReadableAs.DELTA),
        (ReadableAs.DELTA,),
        (),
    ]
    assert {table.storage.buckets for table in found} == {4}


def test_an_environment_without_formats_publishes_none():
    (table,) = with_environment_defaults(sales(None), environment()).tables
    assert table.storage.formats == ()
    assert sales(None).tables[0].storage.formats == ()


def test_the_jars_of_a_step_follow_the_environment():
    assert ICEBERG in jars_of(with_environment_defaults(sales(None), BOTH).tables)
    assert ICEBERG not in jars_of(with_environment_defaults(sales(()), BOTH).tables)
