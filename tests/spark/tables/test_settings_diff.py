"""Settings that can change a row are recorded; changing one is refused.

Three things: 1 with two notes on days 1 and 3, its colour changed on day 2;
2 and 3 unchanged. By all columns 1 has three versions, by note alone two.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import HUDI_TYPES, History, OnTypeMismatch
from lake_spark.tables import recorded_reading
from tests.kinds import TABLE_TYPES
from tests.spark.lake import SNAPSHOTS, Lake, stored, table
from tests.spark.reprocessing import reprocess_files

SPEC = SNAPSHOTS + """columns: {id: int, note: string, colour: string}
key: [id]
storage: {buckets: 1}
"""
DAYS = {
    "2026-01-01": "id,note,colour\n1,a,red\n2,b,red\n3,c,red\n",
    "2026-01-02": "id,note,colour\n1,a,blue\n2,b,red\n3,c,red\n",
    "2026-01-03": "id,note,colour\n1,z,blue\n2,b,red\n3,c,red\n",
}


@pytest.fixture(scope="module", params=TABLE_TYPES, ids=lambda kind: kind.value)
def things(request, spark, tmp_path_factory):
    spec = stored(table(SPEC), type=request.param)
    lake = Lake(spark, tmp_path_factory.mktemp("things"), spec)
    for day, rows in DAYS.items():
        lake.land(f"{day}.csv", rows)
    lake.done("full_load", "incremental", "scd2")
    return lake


@pytest.mark.nightly
def test_another_delimiter_is_said_once_and_counts_for_files_to_come(spark, tmp_path):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("2026-01-01.csv", DAYS["2026-01-01"])
    first = lake.done("full_load", "scd2")
    lake.land("2026-01-02.csv", DAYS["2026-01-02"].replace(",", ";"))
    source = lake.spec.source
    other = replace(source, format=replace(source.format, delimiter=";"))
    later = with_spec(lake, source=other)
    ingested, built = later.done("incremental", "scd2")
    (warning,) = ingested.warnings
    assert warning.startswith(
        'ReadingChanged: source.format.delimiter was ",", now ";". That counts for files '
        "that are ingested from now on. Rows of the 1 file(s) before stay as they were"
    )
    assert (first[0].warnings, built.warnings) == ([], [])
    assert later.living("note", "colour") == [
        *[(1, "a", "blue"), (2, "b", "red"), (3, "c", "red")]
    ]
    later.land("2026-01-03.csv", DAYS["2026-01-03"].replace(",", ";"))
    assert [each.warnings for each in later.done("incremental", "scd2")] == [[], []]
    report = reprocess_files(later, "2026-01-01.csv")
    assert [each["path"] for each in report.set_aside] == ["2026-01-01.csv"]
    (warning,) = [each for each in report.warnings if "ReadingChanged" in each]
    assert 'now ";": 1 file(s) of this reprocess are of before' in warning


@pytest.mark.nightly
def test_how_files_were_read_is_unknown_of_a_table_of_an_earlier_release(
    spark, tmp_path, monkeypatch
):
    lake = Lake(spark, tmp_path, table(SPEC))
    lake.land("2026-01-01.csv", DAYS["2026-01-01"])
    with monkeypatch.context() as earlier:
        earlier.setattr(recorded_reading, "record", lambda spec, manifest: {})
        lake.done("full_load", "scd2")
    note = replace(lake.spec.columns[1][1], on_type_mismatch=OnTypeMismatch.QUARANTINE)
    columns = (lake.spec.columns[0], ("note", note), lake.spec.columns[2])
    for day, told in (("2026-01-02", 0), ("2026-01-03", 1)):
        lake.land(f"{day}.csv", DAYS[day])
        chosen = with_spec(lake, columns=columns) if told else lake
        report = chosen.done("incremental")[0]
        assert len(report.warnings) == told


def with_spec(lake: Lake, **changes) -> Lake:
    return Lake(lake.spark, lake.root, replace(lake.spec, **changes))


@pytest.mark.nightly
def test_another_choice_of_tracked_columns_is_refused_until_a_rebuild(things):
    assert len(things.versions()) == 5
    tracked = with_spec(things, history=History(track=("note",)))
    report = tracked.run("scd2")
    assert report.error["type"] == "SettingsChanged"
    assert 'history.track was [], now ["note"]' in report.error["message"]
    assert "tests_rebuild --param tables=things" in report.error["message"]

    tracked.done("rebuild")
    assert tracked.versions("note", "colour") == [
        (1, "a", "blue", "2026-01-01 00:00:00", "2026-01-03 00:00:00"),
        (1, "z", "blue", "2026-01-03 00:00:00", None),
        (2, "b", "red", "2026-01-01 00:00:00", None),
        (3, "c", "red", "2026-01-01 00:00:00", None),
    ]
    assert [each.state for each in tracked.done("incremental", "scd2")] == [
        "nothing_new"
    ] * 2
    assert tracked.living("note") == things.living("note")
    things.done("rebuild")
    assert len(things.versions()) == 5


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"key": ("id", "note")}, 'key was ["id"], now ["id", "note"]'),
        ({"load_effective_at": "1900-01-01"}, "load_effective_at was null"),
    ],
    ids=["key", "load time"],
)
def test_what_made_the_rows_of_the_log_cannot_be_changed(things, changes, told):
    for stage in ("incremental", "rebuild"):
        report = with_spec(things, **changes).run(stage)
        assert report.error["type"] == "SettingsChanged"
        assert told in report.error["message"]
        assert "load the table under another name" in report.error["message"]


def test_another_name_of_a_column_and_a_wider_type_are_no_redefinition(things):
    columns = dict(things.spec.columns)
    columns["note"] = replace(columns["note"], source=("remark", "note"))
    columns["id"] = replace(columns["id"], type="bigint")
    wider = with_spec(things, columns=tuple(columns.items()))
    assert wider.run("incremental").error is None


def test_a_table_type_is_for_ever(things):
    other = next(k for k in HUDI_TYPES if k is not things.spec.storage.type)
    report = Lake(things.spark, things.root, stored(things.spec, type=other)).run(
        "rebuild"
    )
    assert "storage.type was" in report.error["message"]
