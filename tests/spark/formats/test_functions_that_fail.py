"""Functions of Python on executors that fail by themselves: no file is blamed."""

from __future__ import annotations

from lake_spark.formats import json_reader
from lake_spark.formats.json_records import LineReader
from tests.spark.lake import DATED, Lake, table


class NoRoom(LineReader):
    """A reader on a machine without memory."""

    def __call__(self, line):
        raise MemoryError("no room\nfor a line")


def test_the_run_fails_with_what_python_said_and_the_next_one_reads_the_files(
    spark, tmp_path, monkeypatch
):
    lake = Lake(spark, tmp_path, table(DATED.replace("csv", "json")))
    for number in range(2):
        lake.land(f"changes/{number}.json", f'{{"id":"{number}","at":"2026-01-02"}}\n')
    with monkeypatch.context() as changed:
        changed.setattr(json_reader, "LineReader", NoRoom)
        report = lake.run("incremental")
    assert report.error == {
        "type": "PythonException",
        "message": "MemoryError: no room",
    }
    assert report.set_aside == []
    assert lake.run("incremental").accepted == 2
