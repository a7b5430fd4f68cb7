"""Specs of landing files: snapshots named by their day, a feed with operations, and
folders that say too little. Each passes `validate`."""

from __future__ import annotations

import bz2
import gzip
import json

import boto3
import pytest
from moto import mock_aws

from lake_check.parsing.loader import load_domain
from lake_spec.model import Complete

from lake_local.onboard import files
from lake_local.onboard.file_types import head_of
from lake_local.onboard.files import Request, planned
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
    assert "have no date in their names" in why["undated"]
    assert "files of parquet have their types and are not looked into" in why["packed"]
    assert why["keyless"] == (
        "no key found: 'a' comes nearest, and 2 rows of 2 share a value or lack one: say what"
        " identifies a row. Then decide what keyless.yml.draft asks, and rename it to"
        " keyless.yml"
    )
    begun = (tmp_path / "shop/packed.yml.draft").read_text()
    assert 'files: "*.parquet"' in begun and "format: {type: parquet}" in begun
    assert "key: []  # GUESS: to decide: the columns that identify a row\n" in begun
    assert "columns:" not in begun
    begun = (tmp_path / "shop/keyless.yml.draft").read_text()
    assert "key: []  # GUESS: to decide: no key found: 'a' comes nearest" in begun
    begun = (tmp_path / "shop/undated.yml.draft").read_text()
    assert "# GUESS: to decide: where the names, which have no date, say" in begun
    assert "key: [constituent_id]" in begun


def test_a_spec_that_was_begun_is_one_once_it_is_decided(landed, tmp_path):
    write(
        planned(LocalFolder(landed), Request("shop")),
        tmp_path,
        "shop",
        owner="",
        force=False,
    )
    for name in ("keyless", "packed"):
        begun = (tmp_path / f"shop/{name}.yml.draft").read_text()
        (tmp_path / f"shop/{name}.yml").write_text(begun.replace("[]", "[a]"))
    assert faults_of(tmp_path, "shop")[1] == []


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
        ("f.json", b"[1, 2]", "nor an array of objects. Write each record on"),
        ("f.json", b"\n[\n{}]", "has no record at its beginning"),
        ("f.json", b'[{"id": 1},', "is a JSON array without its end"),
        ("f.json", b'{\n"id": 1}', "over several lines.* convert it, as with `jq -c"),
        ("f.json", b"1\n", "is not one JSON object per line, nor"),
        ("f.csv", b"", "f.csv is empty: land a file with a header and rows"),
        ("f.csv", b"a,,c\n1,2,3\n", "no header that names every column"),
        (
            "f.csv",
            b'a,"b\n' + b"x" * 140_000,
            "is not valid CSV \\(field larger than",
        ),
        ("f.csv", b"a,b\n\0\0,1\n", "bytes that are 0, so it is no text"),
        ("f.xml", b"<a/>", "no setting reads .xml: convert it to JSON lines"),
        ("f.xlsx", b"PK", "no setting reads .xlsx: save each sheet as CSV"),
        ("f.dat", b"", "has an unknown ending"),
    ],
)
def test_what_cannot_be_read_is_told(path, content, words):
    with pytest.raises(ValueError, match=words):
        head_of(path, content, whole=True)


@pytest.mark.parametrize(
    "path, words",
    [
        (None, "the folder is empty. Put the files of each table into a folder"),
        (
            "a.csv",
            r"the folder has files \(a.csv\) but no folders, and a table is a folder of",
        ),
        ("t/_a.csv", r"all of its files are hidden \(t/_a.csv\)"),
    ],
)
def test_a_folder_without_tables_says_what_to_do(tmp_path, path, words):
    if path:
        (tmp_path / "t").mkdir()
        (tmp_path / path).touch()
    with pytest.raises(NoFiles, match=f"{tmp_path}: {words}"):
        planned(LocalFolder(tmp_path), Request("shop"))


def drafted(root):
    (draft,) = planned(LocalFolder(root), Request("shop"))
    return draft


def test_all_files_of_a_folder_say_the_types(tmp_path):
    folder = tmp_path / "fees"
    folder.mkdir()
    old = "id,fee,note,code\n1,1.250000,,7\n2,NULL,x,7b\n"
    (folder / "2026-01-01.csv.gz").write_bytes(gzip.compress(old.encode()))
    rows = "".join(f"{number},2,7,\n" for number in range(200))
    new = f"id,fee,code,more\n{rows}"
    (folder / "2026-02-01.csv").write_text(new)
    (folder / "2026-01-02.csv").write_bytes(b"id,fee,code\n\xff,1,1\n3,4,5\n")
    (folder / "2026-03-01.csv").touch()
    (folder / "2026-01-03.xml").write_text("<a/>")
    text = drafted(tmp_path).text.text
    assert "  fee: decimal(38,6)  # 202 of 202 rows fit, 1 without a value\n" in text
    assert (
        "  code: string  # bigint fits 201 of 202 rows, not row 2 of"
        " fees/2026-01-01.csv.gz\n" in text
    )
    assert "  more: string  # no value in 202 rows\n" in text
    assert "  note: string\n" in text
    assert 'null_text: ["", "NULL"]' in text.replace("NULL]", '"NULL"]')
    assert "# GUESS: types fit all 202 rows of 2 of 4 files\n" in text
    assert (
        "# Not read: fees/2026-01-02.csv after 0 rows: line 2 is not UTF-8: b" in text
    )
    assert "# Not read: fees/2026-01-03.xml: of another kind\n" in text


def test_empty_lines_are_no_records_nor_the_header(tmp_path):
    folder = tmp_path / "fees"
    folder.mkdir()
    for day in ("01", "02"):
        text = f"\r\nid;fee\r\n\r\n1;0.{day}\r\n2;3\r\n"
        (folder / f"2026-01-{day}.csv").write_text(text, newline="")
    text = drafted(tmp_path).text.text
    assert "  fee: decimal(38,2)  # 4 of 4 rows fit\n" in text
    assert "key: [id]" in text and 'delimiter: ";"' in text


def test_where_time_is_up_it_says_how_many_rows_were_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SECONDS", 0)
    folder = tmp_path / "fees"
    folder.mkdir()
    for day in ("01", "02"):
        rows = "".join(f"{number}\n" for number in range(1200))
        (folder / f"2026-01-{day}.csv").write_text(f"id\n{rows}")
    assert (
        "# GUESS: types fit the 500 rows, of 1 of 2 files, that were read in time\n"
        in drafted(tmp_path).text.text
    )


def test_a_folder_of_empty_files_is_skipped_with_the_reason(tmp_path):
    (tmp_path / "fees").mkdir()
    (tmp_path / "fees/2026-01-01.csv").touch()
    assert drafted(tmp_path).why == "all of its 1 files are empty: land one with rows"


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_files_on_s3_are_read_whole(monkeypatch, ending):
    monkeypatch.setattr(files, "SECONDS", 600.0)  # also on a busy machine
    rows = "".join(
        f"{number},2026-01-01\n" for number in range(20_000)
    )  # more than HEAD_BYTES
    body = f"id,at\n{rows}".encode()
    packed = {".gz": gzip.compress, ".bz2": bz2.compress}.get(ending, bytes)(body)
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="lake")
        key = f"exports/fees/2026-01-01.csv{ending}"
        s3.put_object(Bucket="lake", Key=key, Body=packed)
        (draft,) = planned(s3_folder(s3, "s3://lake/exports"), Request("shop"))
    assert "at: date  # 20,000 of 20,000 rows fit" in draft.text.text


def test_values_of_json_keep_their_kinds(tmp_path):
    (tmp_path / "tags").mkdir()
    rows = [{"id": 1, "a": 1.5, "b": "1", "c": True}, {"id": 2, "a": 2, "b": 1}]
    text = "\n".join(json.dumps(each) for each in [*rows, {"id": 3, "d": {"x": 1}}])
    (tmp_path / "tags/2026-01-01.json").write_text(text)
    spec = drafted(tmp_path).text.text
    assert "  a: decimal(38,1)  # 3 of 3 rows fit, 1 without a value\n" in spec
    assert "  b: string\n" in spec and "  c: boolean  # 3 of 3" in spec
    assert '  d: "struct<x:bigint>"  # 3 of 3 rows fit, 2 without a value\n' in spec


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NoFiles, match="no such folder"):
        planned(LocalFolder(tmp_path / "none"), Request("shop"))


def test_an_address_that_is_none_is_told():
    with pytest.raises(NoFiles, match="not an address of a folder"):
        s3_folder(None, "s3:/x")
