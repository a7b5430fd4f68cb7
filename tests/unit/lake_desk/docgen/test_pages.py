"""Schemas and reference pages hold every key of the model."""

import json

import jsonschema
import pytest

from lake_desk.docgen.json_schema import schema_of
from lake_desk.docgen.pages import generated
from lake_spec.model import (
    ClusterSpec,
    Csv,
    Dimension,
    DomainSpec,
    EnvironmentSpec,
    Feed,
    FeedTable,
    History,
    Side,
    Snapshot,
    TableSpec,
)
from lake_spec.model.field_types import Record, Scalar, shape_of


@pytest.mark.parametrize(
    "cls", [Csv, Feed, Dimension, Side, History, Snapshot, TableSpec]
)
def test_the_table_page_tells_every_key(cls):
    page = generated()["reference/table-spec.md"]
    for name, setting in shape_of(cls).settings.items():
        assert f"| `{name}` |" in page and setting.doc in page


def test_the_page_tells_types_defaults_and_choices():
    lines = generated()["reference/table-spec.md"].splitlines()
    assert (
        '| `deletes` | `close` or `tombstone` | `"close"` | Effect of a delete.'
        "<br>`close`: The version ends.<br>`tombstone`: The version ends, and a row marked "
        "by `is_deleted` is valid until the next upsert. |" in lines
    )
    assert "| `type` | `csv` | required | Always `csv`. |" in lines
    assert (
        "| `pattern` | text | none | Regular expression over the file's path below"
        " `path`; its one group is the snapshot time. Example:"
        r" `pattern: 'artists_(\d{4}-\d{2}-\d{2})'` |" in lines
    )


def test_a_schema_refuses_unknown_keys_everywhere():
    schema = schema_of(TableSpec)
    objects = [schema, *schema["$defs"].values()]
    assert len(objects) > 15
    assert all(each["additionalProperties"] is False for each in objects)


def test_a_schema_requires_what_the_model_does_but_what_the_place_says():
    assert schema_of(TableSpec)["required"] == [
        "name",
        "description",
        "owner",
        "source",
        "key",
    ]
    assert "tables" not in schema_of(DomainSpec)["properties"]
    assert schema_of(EnvironmentSpec)["required"][:2] == ["name", "region"]


ROW = {
    "name": "x",
    "description": "One row each",
    "owner": "museum-data",
    "key": ["id"],
}
SOURCES = {
    "feed": {"path": "moma/x", "format": {"type": "csv"}},
    "snapshot": {
        **{"path": "moma/x", "files": "*", "format": {"type": "csv"}},
        "snapshot_time": {"column": "at"},
    },
    "dimension": {"main": "a", "joined": "b"},
    "product": {"sql": "x.sql"},
}
TAKERS = {
    "order_by": (["at"], {"feed"}),
    "future_dates": (True, {"feed", "snapshot"}),
    "columns": ({"id": "int"}, {"feed", "snapshot", "product"}),
    "history": ({}, {"feed", "snapshot", "dimension"}),
    "engine": ("streamer", {"feed"}),
    "storage": ({"buckets": 4}, set(SOURCES)),
}


@pytest.mark.parametrize("key", TAKERS)
def test_the_schema_takes_a_key_from_the_kinds_that_have_it(key):
    judge = jsonschema.Draft202012Validator(schema_of(TableSpec))
    value, takers = TAKERS[key]
    for kind, source in SOURCES.items():
        table = {**ROW, "source": {"kind": kind, **source}}
        assert judge.is_valid(table)
        assert judge.is_valid({**table, key: value}) is (kind in takers), (kind, key)


def test_the_page_says_the_kinds_that_have_a_key():
    page = generated()["reference/table-spec.md"]
    assert "| `order_by` | feed | list of text |" in page
    assert "| `history` | snapshot, feed, dimension | [history](#history) |" in page
    assert "| `storage` | all | [storage](#storage) |" in page
    assert "| `engine` | snapshot, dimension, product | `pyspark` |" in page


def test_a_schema_of_defaults_requires_nothing():
    text = json.dumps(schema_of(TableSpec, is_complete=False))
    assert '"required": [' not in text


def test_a_schema_holds_defaults_and_examples():
    properties = schema_of(ClusterSpec)["properties"]
    assert properties["max_hours"]["default"] == 24
    assert properties["driver_memory"]["examples"] == ["4g"]


def test_the_model_has_only_types_that_are_known():
    with pytest.raises(TypeError, match="Teach it to model/field_types.py"):
        shape_of(bytes)
    assert isinstance(shape_of(FeedTable), Record)
    assert shape_of(str) == Scalar(str)


def test_every_required_setting_has_an_example():
    for cls in (TableSpec, DomainSpec, ClusterSpec, EnvironmentSpec, Feed, Snapshot):
        for setting in shape_of(cls).settings.values():
            assert not setting.is_required or setting.example is not None, setting.name
