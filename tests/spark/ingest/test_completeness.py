"""When a snapshot of several files is complete: contract section 4. No Spark runs here."""

from __future__ import annotations

import json
from typing import Dict

import pytest

from lake_spark.errors import BadFile, WrongSnapshotFiles
from lake_spark.ingest.unseen_files import dated_files, landing_of
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.snapshots import snapshot_completeness
from lake_spark.snapshots.source_snapshot import group_snapshots
from tests.spark.lake import Lake, table

SPEC = """
source:
  kind: snapshot
  path: tests/things
  files: "**/*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "(\\\\d{4}-\\\\d{2}-\\\\d{2})"}
  complete: %s
%s
columns: {id: int, region: string}
key: [id]
"""
MARKER = "{marker: _SUCCESS}"
PARTS = '{parts: "part-(\\\\d+)-of-(\\\\d+)"}'
MANIFEST = '{manifest: "*.manifest"}'
BY_PATH = '  scope: {column: region, pattern: "region=([a-z]+)/"}'


def verdicts(root, complete: str, files: Dict[str, str], more: str = "") -> Dict:
    """By time (and scope), what each snapshot waits for; "" if it is complete."""
    lake = Lake(None, root, table(SPEC % (complete, more)))
    for path, text in files.items():
        lake.land(path, text)
    run = lake.tables
    landing = landing_of(run, [run.spec.source.files])
    dated = dated_files(run, landing.files)
    found = group_snapshots(dated, run.spec)
    paths = [each.path for each in landing.files]
    told = {}
    for each in snapshot_completeness.with_markers(
        run, found, landing.markers, IngestedFiles()
    ):
        missing = snapshot_completeness.what_is_missing(
            run, each, paths, IngestedFiles()
        )
        told[(f"{each.at:%m-%d}", *filter(None, each.scopes))] = missing or ""
    return told


def named(*names: str) -> Dict[str, str]:
    return {name: "id\n1\n" for name in names}


def test_a_marker_completes_the_snapshot_of_its_time_and_no_other(tmp_path):
    files = named("2026-01-01/a.csv", "2026-01-01/_SUCCESS", "2026-01-02/a.csv")
    assert verdicts(tmp_path, MARKER, files) == {
        ("01-01",): "",
        ("01-02",): "1 file is there, but its marker _SUCCESS is missing",
    }


def test_a_marker_may_be_named_for_its_snapshot(tmp_path):
    files = named("a_2026-01-01_1.csv", "a_2026-01-01_2.csv", "a_2026-01-01.done")
    files.update(named("a_2026-01-02_1.csv"))
    told = verdicts(tmp_path, '{marker: "*.done"}', files)
    assert told[("01-01",)] == "" and told[("01-02",)].startswith("1 file is there")


def test_a_marker_without_a_time_belongs_to_the_only_snapshot_of_its_folder(tmp_path):
    files = named("run-1/a_2026-01-01.csv", "run-1/b_2026-01-01.csv", "run-1/_SUCCESS")
    files.update(named("run-2/a_2026-01-02.csv", "run-3/a_2026-01-03.csv"))
    told = verdicts(tmp_path, MARKER, files)
    assert [not each for each in told.values()] == [True, False, False]


def test_a_marker_beside_several_snapshots_completes_none(tmp_path):
    files = named("a_2026-01-01.csv", "a_2026-01-02.csv", "_SUCCESS")
    assert all(verdicts(tmp_path, MARKER, files).values())


def test_each_scope_value_is_complete_for_itself(tmp_path):
    files = named(
        *("2026-01-01/region=eu/a.csv", "2026-01-01/region=eu/_SUCCESS"),
        *("2026-01-01/region=us/a.csv", "2026-01-02/region=eu/a.csv"),
        *("2026-01-02/region=us/a.csv", "2026-01-02/_SUCCESS"),
    )
    told = verdicts(tmp_path, MARKER, files, BY_PATH)
    assert {each for each, missing in told.items() if missing} == {("01-01", "us")}


def test_a_marker_without_files_is_no_empty_snapshot(tmp_path):
    with pytest.raises(
        WrongSnapshotFiles, match="has its marker and no file"
    ) as refused:
        verdicts(tmp_path, MARKER, named("2026-01-01/_SUCCESS"))
    assert refused.value.paths == ("2026-01-01/_SUCCESS",)


@pytest.mark.parametrize("numbers", [(0, 1, 2), (1, 2, 3)])
def test_parts_are_numbered_from_0_or_from_1(tmp_path, numbers):
    names = [f"2026-01-01/part-{n:05d}-of-00003.csv" for n in numbers]
    assert verdicts(tmp_path / "all", PARTS, named(*names)) == {("01-01",): ""}
    told = verdicts(tmp_path / "two", PARTS, named(*names[:2]))
    missing = "2" if numbers[0] == 0 else "3"
    assert told[("01-01",)] == f"2 of 3 parts are there, missing: {missing}"


@pytest.mark.parametrize(
    "names, what, paths",
    [
        (["x-part-1-of-2", "y-part-1-of-2"], "part 1 is there twice", 2),
        (["part-1-of-2", "part-2-of-3"], "name different numbers of parts", 2),
        (["part-3-of-2"], "is part 3 of 2: no such part", 1),
        (["part-0-of-2", "part-2-of-2"], "is part 2 of 2 next to a part 0", 2),
        (["part-0-of-0"], "is part 0 of 0", 1),
        (["part-1-of-2", "rest"], "has no part and number of parts", 1),
    ],
)
def test_parts_that_contradict_each_other_are_refused_by_name(
    tmp_path, names, what, paths
):
    files = named(*[f"2026-01-01/{name}.csv" for name in names])
    with pytest.raises(WrongSnapshotFiles, match=what) as refused:
        verdicts(tmp_path, PARTS, files)
    assert len(refused.value.paths) == paths
    assert "ove " in str(refused.value) and "2026-01-01" in str(refused.value)


def test_parts_may_be_a_number_of_files(tmp_path):
    files = named("2026-01-01/a.csv", "2026-01-01/b.csv", "2026-01-02/a.csv")
    assert verdicts(tmp_path, "{parts: 2}", files) == {
        ("01-01",): "",
        ("01-02",): "1 of 2 files are there",
    }
    with pytest.raises(WrongSnapshotFiles, match="has 3 files .*parts is 2"):
        verdicts(tmp_path, "{parts: 2}", named("2026-01-01/c.csv"))


ROOT = "file://{root}/landing/tests/things"
MANIFESTS = {
    "names": '["a.csv", "./b.csv"]',
    "lines": "a.csv\r\nb.csv\n\n",
    "dynamodb": "".join(
        json.dumps({"itemCount": 1, "etag": "e", "dataFileS3Key": f"{each}.csv"}) + "\n"
        for each in "ab"
    ),
    "redshift": json.dumps(
        {
            "entries": [
                {"url": f"{ROOT}/2026-01-01/a.csv", "mandatory": True},
                {
                    "url": f"{ROOT}/2026-01-01/b.csv",
                    "meta": {"content_length": 5},
                },
            ]
        }
    ),
    "inventory": json.dumps(
        {
            "version": "1",
            "files": [{"key": "a.csv", "size": 5}, {"key": "b.csv", "size": 5}],
        }
    ),
}


@pytest.mark.parametrize("form", MANIFESTS)
def test_a_manifest_lists_the_files_in_one_of_several_forms(tmp_path, form):
    text = MANIFESTS[form].replace("{root}", str(tmp_path))
    files = {"2026-01-01/x.manifest": text, **named("2026-01-01/a.csv")}
    assert verdicts(tmp_path, MANIFEST, files) == {
        ("01-01",): "1 of 2 files of its manifest are there, missing: 2026-01-01/b.csv"
    }
    assert verdicts(tmp_path, MANIFEST, named("2026-01-01/b.csv")) == {("01-01",): ""}


def test_a_snapshot_without_its_manifest_waits_and_so_does_one_without_files(tmp_path):
    files = named("2026-01-01/a.csv")
    files["2026-01-02/x.manifest"] = '["a.csv"]'
    assert verdicts(tmp_path, MANIFEST, files) == {
        ("01-01",): "1 file is there, but its manifest *.manifest is missing",
        ("01-02",): "0 of 1 files of its manifest are there, missing: 2026-01-02/a.csv",
    }


@pytest.mark.parametrize(
    "text, what",
    [
        ("[", "cannot be read"),
        ('{"key": "a.csv"}\n{"key": ', "cannot be read"),
        ('{"key": "a.csv"}\n{"x": 1}', "entry 2 is neither a file name"),
        ('{"x": []}', "neither a list nor an object with one list"),
        ('[{"size": 1}]', "entry 1 is neither a file name"),
        ('[{"url": "a.csv", "size": "5"}]', "entry 1 is neither a file name"),
        ('["a.csv", "a.csv"]', "lists 2026-01-01/a.csv twice"),
        ('["../2026-01-02/a.csv"]', "outside of"),
        ('["s3://other/a.csv"]', "outside of"),
        ('["/etc/passwd"]', "outside of"),
        ('["a.txt"]', "lists 2026-01-01/a.txt, which source.files does not match"),
        ('["_a.csv"]', "which source.files does not match"),
        ("[]", "lists no file"),
        ('[{"url": "a.csv", "size": 6}]', "has 6 bytes, but it has 5"),
        (f'["a.csv", "{ROOT}/2026-01-02/a.csv"]', "of another snapshot"),
    ],
)
def test_a_manifest_that_cannot_be_right_is_refused_by_name(tmp_path, text, what):
    files = named("2026-01-01/a.csv", "2026-01-02/a.csv")
    files["2026-01-01/x.manifest"] = text.replace("{root}", str(tmp_path))
    with pytest.raises((BadFile, WrongSnapshotFiles), match=what) as refused:
        verdicts(tmp_path, MANIFEST, files)
    assert "x.manifest" in str(refused.value)


def test_a_file_that_its_manifest_does_not_list_is_refused_alone(tmp_path):
    files = {"2026-01-01/x.manifest": '["a.csv"]'}
    files.update(named("2026-01-01/a.csv", "2026-01-01/b.csv"))
    with pytest.raises(
        WrongSnapshotFiles, match="b.csv is not in its manifest"
    ) as refused:
        verdicts(tmp_path, MANIFEST, files)
    assert refused.value.paths == ("2026-01-01/b.csv",)
