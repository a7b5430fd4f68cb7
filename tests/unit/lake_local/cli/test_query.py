"""A query that fails: what is wrong with the table, where that can be known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lake_local.cli import query
from lake_local.errors import BadRequest, LakeLocalError
from lake_local.show.request import Request
from lake_local.stack import objects
from lake_local.workspace import project

TABLE = "s3://lake/warehouse/moma/artists/current"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Ask for rows of a table in whose folder these files are; its reader always fails."""
    reader = tmp_path / "python"
    reader.write_text("#!/bin/sh\nexit 1\n")
    reader.chmod(0o755)
    session = SimpleNamespace(
        home=SimpleNamespace(root=tmp_path, logs=tmp_path),
        specs=SimpleNamespace(
            environment=SimpleNamespace(region="eu-central-1"),
            project=SimpleNamespace(root=tmp_path, spark_python=reader, spark_jars="x"),
        ),
        stack=SimpleNamespace(aws_url="http://127.0.0.1:1", aws_secret="s"),
        aws=lambda _: None,
    )
    (tmp_path / "show.log").write_text("java.lang.NullPointerException\n")
    monkeypatch.setattr(project, "require_spark", lambda _: None)

    def asked(*files: str, is_plain: bool = False) -> None:
        keys = [f"warehouse/moma/artists/current/{file}" for file in files]
        monkeypatch.setattr(objects, "under", lambda *_: iter(keys))
        asked_for = Request("moma.artists", "current", TABLE, is_plain=is_plain)
        query.ask(session, [asked_for])

    return asked


OURS = ("a/0a-0_1-2-3_20260101000000000.parquet", ".hoodie/hoodie.properties")


def test_a_file_that_hudi_did_not_write_is_named_with_the_way_out(ask):
    with pytest.raises(BadRequest) as refused:
        ask(*OURS, "a/part-0.parquet")
    assert str(refused.value) == (
        "moma.artists current: Hudi did not write"
        f" {TABLE}/a/part-0.parquet, and takes it for rows of the table. Run:"
        " ./run_locally.sh run moma_maintenance --param move_foreign_files=true"
    )


def test_files_of_plain_parquet_are_not_those_of_hudi(ask):
    with pytest.raises(LakeLocalError, match="the query failed"):
        ask("20260101000000000/part-0.parquet", is_plain=True)


def test_where_no_file_explains_it_the_end_of_the_log_is_shown(ask):
    with pytest.raises(LakeLocalError, match="(?s)the query failed.*NullPointer"):
        ask(*OURS, "notes.txt")
