"""How files were read is recorded, and what a commit reads otherwise is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_spec.model import Column, Csv, Rule, Snapshot, SnapshotTable, SnapshotTime
from lake_spark.landing.ingested_files import IngestedFile, IngestedFiles
from lake_spark.tables.recorded_reading import differences, record

DAYS = [f"2026-01-0{day}T00:00:00+00:00" for day in (1, 2, 3)]


@pytest.fixture
def spec():
    time = SnapshotTime(pattern="^(.*)[.]csv$")
    return SnapshotTable(
        name="things",
        domain="tests",
        description="Things",
        owner="tests",
        source=Snapshot("tests/things", "*.csv", Csv(), time),
        columns=(("id", Column("int")), ("note", Column("string"))),
        key=("id",),
    )


def with_format(spec, **settings):
    source = spec.source
    return replace(
        spec, source=replace(source, format=replace(source.format, **settings))
    )


def after(manifest, spec, landed_at):
    """The manifest once another file was ingested by this spec."""
    file = IngestedFile(f"{landed_at}.csv", "e", landed_at)
    count, files = manifest.count + 1, (*manifest.files, file)
    settings = record(spec, manifest)
    return replace(
        manifest, files=files, count=count, newest=landed_at, definition=settings
    )


def reprocessed(manifest, *days):
    gone = [each for each in manifest.files if each.landed_at in days]
    return manifest.without(gone)


def test_a_change_is_said_by_the_commit_that_reads_otherwise_and_once(spec):
    assert differences(spec, IngestedFiles()) == []
    first = after(IngestedFiles(), spec, DAYS[0])
    assert differences(spec, first) == []
    other = with_format(spec, delimiter=";", encoding="latin-1")
    other = replace(other, quality=(Rule("note", not_null=True),))
    (words,) = differences(other, first)
    assert (
        'source.format.delimiter was ",", now ";"; source.format.encoding was' in words
    )
    assert "quality was [], now [{" in words
    assert "Rows of the 1 file(s) before stay as they were read; a reprocess" in words
    assert differences(other, after(first, other, DAYS[1])) == []


def test_what_changes_no_row_of_a_file_is_not_said(spec):
    first = after(IngestedFiles(), spec, DAYS[0])
    columns = ((n, replace(c, description="x", tags=("y",))) for n, c in spec.columns)
    other = replace(spec, owner="others", description="x", columns=tuple(columns))
    assert differences(other, first) == []
    assert record(other, first) == record(spec, first)


def test_a_commit_of_an_earlier_release_says_nothing_of_it(spec):
    first = replace(after(IngestedFiles(), spec, DAYS[0]), definition={"key": '["id"]'})
    other = with_format(spec, delimiter=";")
    assert differences(other, first) == []
    second = after(first, other, DAYS[1])
    assert second.definition["source.format.delimiter"] == '";"'
    assert len(differences(spec, second)) == 1


def test_a_setting_that_one_of_the_releases_does_not_know_is_not_said(spec):
    first = after(IngestedFiles(), spec, DAYS[0])
    settings = {**first.definition, "source.format.flavour": '"x"'}
    del settings["source.format.header"]
    other = with_format(spec, header=False)
    assert differences(other, replace(first, definition=settings)) == []


def test_a_reprocess_says_which_of_its_files_were_read_otherwise(spec):
    other = with_format(spec, delimiter=";")
    second = after(after(IngestedFiles(), spec, DAYS[0]), other, DAYS[1])
    third = after(second, other, DAYS[2])
    assert differences(other, reprocessed(third, DAYS[1], DAYS[2])) == []
    (words,) = differences(other, reprocessed(third, *DAYS))
    assert words.startswith(
        f'source.format.delimiter was "," until the files landed that came after {DAYS[0]}'
        ', now ";": 1 file(s) of this reprocess are of before'
    )
    back = after(third, spec, DAYS[2])
    (words,) = differences(spec, reprocessed(back, DAYS[1]))
    assert 'was ";" until' in words


def test_a_reprocess_of_all_files_that_changes_the_setting_leaves_none_behind(spec):
    first = after(IngestedFiles(), spec, DAYS[0])
    (words,) = differences(
        with_format(spec, delimiter=";"), reprocessed(first, DAYS[0])
    )
    assert words.endswith("for files that are ingested from now on.")
