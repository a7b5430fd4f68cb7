"""`show --through` a reader without Hudi: what it needs, and what it says without it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lake_spec.model import ReadableAs

from lake_local.cli import query
from lake_local.cli.commands import show
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest, Missing
from lake_local.stack import objects
from lake_local.workspace import project
from lake_local.workspace.specs import specs_of

TABLE = "s3://lake/warehouse/moma/artists"
METADATA, LOG = "iceberg/current/metadata/v1.metadata.json", "current/_delta_log/0.json"


@pytest.fixture
def asked(monkeypatch):
    """Ask `show` where these keys are below the table's folder: what it would read."""

    def asked(through, *keys, readable_as=()):
        specs = specs_of(project.find(), None)
        table = specs.table("moma.artists")
        spec = replace(table, storage=replace(table.storage, readable_as=readable_as))
        session = SimpleNamespace(
            aws=lambda _: None, specs=SimpleNamespace(table=lambda _: spec)
        )
        there = [f"{TABLE}/{key}" for key in keys]
        monkeypatch.setattr(
            objects,
            "exists_under",
            lambda _, url: any(k.startswith(url) for k in there),
        )
        requests = []
        monkeypatch.setattr(query, "ask", lambda _, found: requests.extend(found))
        args = parse(["show", "moma.artists", "--through", through])
        assert query.answer_in(session, show.request_of(args, specs))
        return requests[0]

    return asked


@pytest.mark.parametrize(
    "through, keys, published",
    [
        ("iceberg", [METADATA], "iceberg"),
        ("delta", [LOG], "delta"),
        ("duckdb", [LOG], "delta"),
        ("duckdb", [LOG, METADATA], "iceberg"),
    ],
)
def test_a_reader_takes_the_first_of_its_formats_that_is_published(
    asked, through, keys, published
):
    request = asked(through, *keys)
    assert (request.through, request.published) == (through, published)


def test_a_table_that_is_not_published_is_refused_with_what_to_write(asked):
    with pytest.raises(BadRequest) as refused:
        asked("iceberg", "current/.hoodie/hoodie.properties", LOG)
    assert str(refused.value) == (
        "moma.artists current is not published as iceberg: there is no object below"
        f" {TABLE}/iceberg/current/metadata/. Write `storage: {{readable_as: [iceberg]}}` in"
        " moma/artists.yml, then run: ./run_locally.sh run moma_incremental"
    )


def test_a_table_that_will_be_published_by_its_next_run_says_so(asked):
    formats = (ReadableAs.DELTA,)
    with pytest.raises(BadRequest, match="Run it once more: .* run moma_incremental"):
        asked("duckdb", readable_as=formats)


def test_readers_that_are_not_set_up_are_named_with_what_sets_them_up(tmp_path):
    found = project.Project(tmp_path, tmp_path, tmp_path)
    with pytest.raises(Missing, match="Run ./setup.sh --only readers"):
        project.require_readers(found)
