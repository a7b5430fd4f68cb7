"""A table of Debezium events says little: the rest follows from its envelope."""

import pytest

from lake_check.parsing.loader import load_domain

from tests.unit.lake_check.spec_files import FEED, LEFT_OUT, changed, diagnostics_of

EVENTS = changed(
    FEED,
    {
        "source.format": {"type": "json"},
        "source.operation": LEFT_OUT,
        "source.envelope": {"connector": "postgresql"},
        "order_by": LEFT_OUT,
    },
)


def loaded(specs, changes):
    specs.put("tables/sales/orders.yml", changed(EVENTS, changes))
    return load_domain("sales", specs.tables).tables[0]


@pytest.mark.parametrize(
    "connector, order",
    [
        ("postgresql", ("source_commit_lsn", "source_lsn")),
        ("mariadb", ("binlog_file", "binlog_pos", "binlog_row")),
        ("mysql", ("binlog_file", "binlog_pos", "binlog_row")),
    ],
)
def test_the_connector_gives_order_time_operation_and_their_columns(
    specs, connector, order
):
    table = loaded(specs, {"source.envelope.connector": connector})
    assert table.order_by == order
    assert table.effective_at == "source_ts"
    assert table.operation.delete == ("d",) and table.operation.load == ("r",)
    added = dict(table.columns[-1 - len(order) :])
    assert {name: each.type for name, each in added.items()} == {
        "source_ts": "timestamp",
        **{name: "bigint" for name in order},
    }


def test_what_the_file_says_wins(specs):
    changes = {
        "order_by": ["updated_at"],
        "effective_at": "updated_at",
        "source.operation": {"column": "kind", "delete": []},
        "columns.source_ts": {"type": "date", "source": ["__source_ts"]},
    }
    table = loaded(specs, changes)
    assert (table.order_by, table.effective_at) == (("updated_at",), "updated_at")
    assert table.operation.column == "kind"
    assert dict(table.columns)["source_ts"].type == "date"


def test_a_spec_of_events_has_no_diagnostic(specs):
    assert diagnostics_of(specs, EVENTS, {}) == []


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"source.format": {"type": "csv"}},
            "source.format.type: got 'csv'. Fields of CSV cannot hold rows: choose "
            "json, avro or parquet.",
        ),
        (
            {"columns": LEFT_OUT},
            "columns: missing. Events do not carry the types of all values: declare "
            "the columns of the source's table.",
        ),
        (
            {"columns.source_lsn": "long"},
            "columns.source_lsn: got 'source_lsn'. The envelope has a column of that "
            "name. Give yours another name, as in source_lsn_of_row: "
            "{type: long, source: [source_lsn]}.",
        ),
        (
            {"source.envelope.connector": "oracle"},
            "source.envelope.connector: got 'oracle'. Choose one of: postgresql, mariadb,"
            " mysql.",
        ),
        (
            {"source.operation": {"column": "op", "load": ["x"]}},
            "source.operation.load: got 'x'. Rows of the full load are upserts: list it"
            " under upsert too.",
        ),
    ],
)
def test_an_envelope_that_cannot_be_opened_is_told(specs, changes, message):
    assert diagnostics_of(specs, EVENTS, changes) == [message]
