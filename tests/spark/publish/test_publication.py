"""Which tables are looked at to be published, and which versions are registered."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_spec.model import Storage, TableType
from lake_spec.model.choices import ReadableAs
from lake_spark.publish import publication
from lake_spark.publish.format import Newest


def run_of(formats, table):
    """A run of a table that is merged on read."""
    storage = Storage(type=TableType.MERGE_ON_READ, readable_as=formats)
    return SimpleNamespace(
        layers=("changes", "current", "history"),
        spark=None,
        store=None,
        hudi=table,
        earlier=SimpleNamespace(is_registered=False),
        report=SimpleNamespace(run="sales_scd2/1", stage="scd2", commits={}),
        environment=SimpleNamespace(runs="s3://l/runs"),
        spec=SimpleNamespace(
            name="orders",
            description="",
            columns=(),
            storage=storage,
        ),
    )


@pytest.fixture
def registered(monkeypatch):
    """Names of the layers that are registered, of tables with no commit to publish."""
    unread = SimpleNamespace(names=[], kept=lambda commits: [])
    monkeypatch.setattr(publication, "Instants", lambda *_, **__: unread)
    found = []
    monkeypatch.setattr(
        publication.glue_tables,
        "register",
        lambda run, layer, *_, **__: found.append(layer),
    )
    return found


def form_with(newest, expired):
    """A format whose newest version is given."""
    return lambda *_, **__: SimpleNamespace(
        newest=lambda: newest, expire=lambda instants: expired.append(instants)
    )


@pytest.mark.parametrize("is_ours, removed", [(True, ["entry", "files"]), (False, [])])
def test_a_format_that_is_asked_for_no_more_goes_from_the_catalogue_first(
    monkeypatch, is_ours, removed
):
    """A kill in between leaves files, by which the next run sees what is left to do."""
    done: list = []
    dropped = SimpleNamespace(
        is_ours=lambda: is_ours, drop=lambda: done.append("files")
    )
    for kind in ReadableAs:
        monkeypatch.setitem(publication.FORMATS, kind, lambda *_, **__: dropped)
    monkeypatch.setattr(
        publication.glue_tables, "remove", lambda *_: done.append("entry")
    )
    table = SimpleNamespace(has_data=lambda: True)
    run = run_of((ReadableAs.ICEBERG,), table=lambda layer: table)
    run.say = lambda words: None
    monkeypatch.setattr(publication, "LAYERS", ("current",))
    publication.drop_unasked(run)
    assert done == removed


def test_no_table_is_looked_at_where_no_format_is_asked_for():
    publication.publish(run_of((), table=None), ["current"], keep_commits=3)


@pytest.mark.parametrize(
    "newest, keep_commits, layers",
    [
        (None, 3, []),
        (Newest(1, "101", 1, 10), 3, ["current"]),
        (Newest(1, "101", 1, 10), None, []),
    ],
)
def test_a_cleaning_expires_what_was_published_before(
    monkeypatch, registered, newest, keep_commits, layers
):
    expired: list = []
    form = form_with(newest, expired)
    monkeypatch.setitem(publication.FORMATS, ReadableAs.ICEBERG, form)
    table = SimpleNamespace(has_data=lambda: True)
    run = run_of((ReadableAs.ICEBERG,), table=lambda layer: table)
    publication.publish(run, ["current"], keep_commits=keep_commits)
    assert registered == layers
    assert expired == [[] for _ in layers]
