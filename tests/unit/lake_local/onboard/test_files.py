"""Specs of landing files: snapshots named by their day, a feed with operations, and
folders that say too little. Each passes `validate`."""

from __future__ import annotations

import gzip
import json

import pytest

from lake_spec.model import Complete
from lake_spec.parsing.loader import load_domain

from lake_local.onboard.files import Request, planned
from lake_local.onboard.file_types import head_of
from lake_local.onboard.stores import LocalFolder, NoFiles, s3_folder
from lake_local.onboard.writing import faults_of, write

ARTISTS = "ConstituentID;Name;Born;Fee;Seen\n1;Ana;1950-01-02;1.50;\n2;Bo;NULL;20;x\n"
ORDERS = (
    "Op,order_id,valid_from,updated_at,zip\n"
    "I,1,2026-01-02,2026-01-02T03:04:05Z,01234\n"
    "U,1,2026-01-02,2026-01-02 03:04:06.5,01235\n"
)
TAGS = [{"id": 1, "tags": ["a"], "at": {"x": 1.5, "y": 2}}, {"id": 2, "big": 10**17}]


@pytest.fixture
def landed(tmp_path):
    root = tmp_path / "files"
    for path, text in (
        ("artists/artists_2026-01-01.csv.gz", ARTISTS),
        ("artists/artists_2026-02-01.csv.gz", ARTISTS),
        ("Orders/load/full.csv", ORDERS),
        ("Orders/changes/1.csv", ORDERS),
        ("tags/20260101/tags.json", "\n".join(json.dumps(each) for each in TAGS)),
        ("undated/a.csv", ARTISTS),
        ("packed/2026-01-01.parquet", "PAR1"),
        ("keyless/2026-01-01.csv", "a,b\n1,2\n1,2\n"),
        (".hidden/2026-01-01.csv", ARTISTS),
        ("artists/_SUCCESS", ""),
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        body = text.encode()
        file.write_bytes(gzip.compress(body) if path.endswith(".gz") else body)
    return root


def test_folders_become_tables_that_pass_validate(landed, tmp_path):
    drafts = planned(LocalFolder(landed), Request("shop", "shop/exports"))
    done = write(drafts, tmp_path, "shop", owner="", force=False)
    assert faults_of(tmp_path, "shop")[1] == []
    artists, orders, tags = load_domain("shop", tmp_path).tables
    assert (artists.source.path, artists.source.files) == (
        "shop/exports/artists",
        "*.csv.gz",
    )
    assert artists.source.snapshot_time.format == "%Y-%m-%d"
    assert artists.source.format.delimiter == ";"
    assert artists.source.format.null_text == ("", "NULL")
    assert artists.key == ("constituent_id",)
    assert {name: column.type for name, column in artists.columns} == {
        "constituent_id": "bigint",
        "name": "string",
        "born": "date",
        "fee": "decimal(38,2)",
        "seen": "string",
    }
    assert (orders.operation.column, orders.order_by) == ("Op", ("updated_at",))
    assert dict(orders.columns)["zip"].type == "string"
    assert dict(orders.columns)["valid_from_of_row"].source == ("valid_from",)
    assert orders.source.path == "shop/exports/Orders"
    assert dict(tags.columns)["at"].type == "struct<x:decimal(38,1),y:bigint>"
    assert dict(tags.columns)["tags"].type == "array<string>"
    why = {each.name: each.why for each in done.skipped}
    assert sorted(why) == ["keyless", "packed", "undated"]
    assert "name no date" in why["undated"]
    assert "Parquet files are not looked into" in why["packed"]
    assert "no column is named like a key" in why["keyless"]


@pytest.mark.parametrize(
    "names, complete",
    [
        (["a_2026-01-01.csv", "a_2026-01-02.csv", "_SUCCESS"], None),
        (
            ["2026-01-01/part-0-of-2.csv", "2026-01-01/part-1-of-2.csv"],
            Complete(parts=r"(\d+)[-_.]?of[-_.]?(\d+)"),
        ),
        (
            ["2026-01-01/a.csv", "2026-01-01/b.csv", "2026-01-01/_SUCCESS"],
            Complete(marker="_SUCCESS"),
        ),
        (
            ["a_2026-01-01.csv", "a_2026-01-01.done", "a_2026-01-02.done"],
            Complete(marker="*.done"),
        ),
        (
            ["2026-01-01/a.csv", "2026-01-01/manifest.json"],
            Complete(manifest="manifest.json"),
        ),
        (["1/2026-01-01.csv", "2/2026-01-01.csv"], Complete(marker="_SUCCESS")),
    ],
)
def test_snapshots_of_several_files_say_when_they_are_complete(
    tmp_path, names, complete
):
    for name in names:
        file = tmp_path / "files/things" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("id,note\n1,a\n" if name.endswith(".csv") else "[]")
    drafts = planned(LocalFolder(tmp_path / "files"), Request("shop", "shop/exports"))
    write(drafts, tmp_path, "shop", owner="", force=False)
    assert faults_of(tmp_path, "shop")[1] == []
    assert load_domain("shop", tmp_path).tables[0].source.complete == complete
    if complete:
        assert "complete: {" in drafts[0].text.text and "# GUESS" in drafts[0].text.text


@pytest.mark.parametrize(
    "values, kind",
    [
        (["1", "20"], "bigint"),
        (["01", "2"], "string"),
        (["1.5", "2"], "decimal(38,1)"),
        (["1e5", "2.0"], "double"),
        (["true", "FALSE"], "boolean"),
        (["2026-13-01"], "string"),
        (["2026-12-01"], "date"),
        (["2026-12-01 10:00:00"], "timestamp"),
        (["2026-12-01", "2026-12-01 10:00:00"], "string"),
        (["", ""], "string"),
        (["9" * 19], "string"),
    ],
)
def test_a_type_fits_every_value(values, kind):
    text = "a,b\n" + "".join(f"{each},x\n" for each in values)
    assert head_of("f.csv", text.encode(), whole=True).types["a"] == kind


def test_a_line_that_is_cut_is_not_looked_at():
    head = head_of("f.csv", b"a,b\n1,x\n2,y\nthr", whole=False)
    assert (head.types["a"], len(head.records)) == ("bigint", 2)


@pytest.mark.parametrize(
    "path, content, words",
    [
        ("f.json", b"[1, 2]", "is not one JSON object per line"),
        ("f.csv", b"a,,c\n1,2,3\n", "no header that names every column"),
        (
            "f.csv",
            b'a,"b\n' + b"x" * 140_000,
            "cannot be read as CSV: field larger than",
        ),
        ("f.csv", b"\xff\xfe\x00\x01" * 9, "it is not UTF-8"),
        ("f.xml", b"<a/>", "is of no kind that can be looked into"),
    ],
)
def test_what_cannot_be_read_is_told(path, content, words):
    with pytest.raises(ValueError, match=words):
        head_of(path, content, whole=True)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NoFiles, match="there is no such folder"):
        planned(LocalFolder(tmp_path / "none"), Request("shop"))


def test_an_address_that_is_none_is_told():
    with pytest.raises(NoFiles, match="is no address of a folder"):
        s3_folder(None, "s3:/x")
