"""The program behind `show --through`, on a Delta table of two versions.

The first has the keys 1 and 2, the second 3, 2 and 1; each names the commit of Hudi that
it stands for. The names of columns are as awkward as sources have them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake
from pyarrow import parquet
from pyiceberg.table import StaticTable

from lake_spec.layout.published_tables import iceberg_location

from lake_local.show import published
from lake_local.show.request import Request, Validity

PROJECT = Path(__file__).resolve().parents[2]
LONG_AGO = datetime(1500, 1, 1, 0, 0, 0, 1, tzinfo=timezone.utc)
MARCH, MAY = (datetime(2016, month, 1, tzinfo=timezone.utc) for month in (3, 5))
COMMITS = {"20260101000000000": (1, 2), "20260102000000000": (3, 2, 1)}


def rows(keys) -> pa.Table:
    ends = [MAY if key == 2 else None for key in keys]
    extra = [[("k", 1.5)] for _ in keys]
    return pa.table(
        {
            "id": pa.array(keys, pa.int32()),
            "a.b": ["" if key == 1 else None for key in keys],
            'so "called"': [Decimal("1.50") for _ in keys],
            "extra": pa.array(extra, pa.map_(pa.string(), pa.float64())),
            "born": pa.array([LONG_AGO for _ in keys], pa.timestamp("us", "UTC")),
            "valid_from": pa.array([MARCH for _ in keys], pa.timestamp("us", "UTC")),
            "valid_to": pa.array(ends, pa.timestamp("us", "UTC")),
            "is_deleted": [None if key == 1 else key == 3 for key in keys],
            "lake_key": [str(key) for key in keys],
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("lake") / "current")
    for instant, keys in COMMITS.items():
        named = CommitProperties(custom_metadata={"lake.hudi-instant": instant})
        write_deltalake(folder, rows(keys), mode="overwrite", commit_properties=named)
    return folder


@pytest.fixture
def show(path, tmp_path):
    """Ask the program as `show` does: its exit code, its output, its error."""

    def show(through="duckdb", ahead=PROJECT, **asked):
        request = Request(
            *("moma.artists", "current", path),
            **{"order": ("id",), "hidden": ("lake_",), "format": "csv", **asked},
            through=through,
            published="delta",
        )
        question = tmp_path / "requests.json"
        requests = [asdict(request)]
        question.write_text(json.dumps({"endpoint": None, "requests": requests}))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "lake_local.show.readers",
                question,
                tmp_path / "log",
            ],
            env={**os.environ, "PYTHONPATH": f"{ahead}:{PROJECT}/local:{PROJECT}/dags"},
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 2), (tmp_path / "log").read_text()
        return done.returncode, done.stdout, done.stderr.strip()

    return show


@pytest.mark.parametrize("through", ["delta", "duckdb"])
def test_rows_are_in_the_order_of_their_keys_and_exact(show, through):
    names = ("id", "a.b", 'so "called"', "extra", "born")
    code, shown, _ = show(through, columns=names)
    rest = '1.50,"{""k"": 1.5}",1500-01-01T00:00:00.000001Z'
    assert (code, shown.splitlines()) == (
        0,
        [
            'id,a.b,"so ""called""",extra,born',
            f'1,"",{rest}',
            f"2,,{rest}",
            f"3,,{rest}",
        ],
    )


def test_columns_of_the_lake_are_shown_only_by_name(show):
    assert "lake_key" not in show()[1]
    assert show(columns=("lake_key",))[1].split() == ["lake_key", "1", "2", "3"]


@pytest.mark.parametrize("through", ["delta", "duckdb"])
def test_as_of_a_time_the_last_commit_before_it_counts(show, through):
    assert show(through, as_of="20260101120000000", count=True)[1] == "2\n"
    assert show(through, as_of="20260102000000000", count=True)[1] == "3\n"


def test_as_of_before_the_first_published_commit_is_refused_with_it(show):
    assert show(as_of="20251231000000000") == (
        *(2, ""),
        "--as-of 2025-12-31 00:00:00.000 UTC: moma.artists current is published for no"
        " commit up to then. Choose a time from the first one on: 2026-01-01"
        " 00:00:00.000 UTC.",
    )


@pytest.mark.parametrize(
    "at, found", [("2016-02-29", []), ("2016-03-01", ["1", "2"]), ("2016-05-01", ["1"])]
)
def test_versions_are_true_from_their_start_up_to_their_end(show, at, found):
    valid = Validity(f"{at}T00:00:00+00:00", "valid_from", "valid_to", "is_deleted")
    assert show(valid=valid, columns=("id",))[1].split() == ["id", *found]


def test_a_library_that_aborts_as_python_ends_takes_no_answer_back(show, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os; atexit.register(os.abort)"
    )
    shown = show("delta", ahead=tmp_path, columns=("id",), limit=2)
    assert shown == (0, "id\n1\n2\n", "only the first 2 rows; --limit 0 shows all")


def test_a_condition_chooses_rows(show):
    chosen = show(where="valid_to is not null and born < '1900-01-01'", columns=("id",))
    assert chosen[1].split() == ["id", "2"]


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"where": "idd = 1"}, "--where 'idd = 1': Binder Error: Referenced column"),
        ({"where": "1=1) UNION SELECT 1 --"}, "Parser Error: syntax error"),
        ({"where": "1=1; DROP TABLE x"}, "--where '1=1; DROP TABLE x': "),
        ({"columns": ("idd",)}, "no column 'idd'. Did you mean 'id'?"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(show, asked, message):
    code, shown, words = show(**asked)
    assert (code, shown, len(words.splitlines())) == (2, "", 1)
    assert message in words


def test_rows_that_a_limit_cuts_off_are_mentioned(show):
    _, shown, words = show(limit=1, columns=("id",))
    assert (shown.split(), words) == (
        ["id", "1"],
        "only the first 1 rows; --limit 0 shows all",
    )


def test_rows_can_be_written_as_parquet(show, tmp_path):
    file = tmp_path / "rows.parquet"
    code, *_ = show(format="parquet", output=str(file), limit=2)
    assert code == 0
    assert parquet.read_table(file)["id"].to_pylist() == [1, 2]


def test_metadata_of_iceberg_makes_no_class_that_it_names(tmp_path, monkeypatch):
    marker = tmp_path / "marker"
    module = tmp_path / "planted_io.py"
    module.write_text(f"def Made(properties):\n    return open({str(marker)!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    column = {"id": 1, "name": "id", "required": False, "type": "long"}
    metadata = {
        "format-version": 2,
        "table-uuid": "6f0a8d3e-4f0b-4b0c-9d0e-0a0b0c0d0e0f",
        "location": str(tmp_path),
        "last-sequence-number": 0,
        "last-updated-ms": 0,
        "last-column-id": 1,
        "schemas": [{"schema-id": 0, "type": "struct", "fields": [column]}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": {"py-io-impl": "planted_io.Made"},
        "snapshots": [],
    }
    folder = Path(iceberg_location(str(tmp_path / "current"))) / "metadata"
    folder.mkdir(parents=True)
    (folder / "v1.metadata.json").write_text(json.dumps(metadata))
    (folder / "version-hint.text").write_text("1")
    table = published.iceberg_table(str(tmp_path / "current"), None)
    assert table.scan().to_arrow().num_rows == 0
    assert not marker.exists()
    StaticTable.from_metadata(str(folder / "v1.metadata.json"))
    assert marker.exists()  # so the test could fail
