"""Rows become one Parquet file, whatever Spark makes of them first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest

from lake_local.show.query import answer
from lake_local.show.request import Format, Request


class Frame:
    """As much of a DataFrame as writing needs; it notes what was asked of it."""

    def __init__(self):
        self.asked = []
        self.write = SimpleNamespace(parquet=self._parquet)

    def limit(self, number):
        self.asked.append(("limit", number))
        return self

    def coalesce(self, number):
        self.asked.append(("coalesce", number))
        return self

    def _parquet(self, uri):
        folder = Path(urlparse(uri).path)
        folder.mkdir()
        for name in ("_SUCCESS", ".part-0.parquet.crc", "part-0.snappy.parquet"):
            (folder / name).write_text(name)


@pytest.mark.parametrize("limit, asked", [(0, []), (5, [("limit", 5)])])
def test_the_one_part_is_the_file_and_nothing_else_stays(tmp_path, limit, asked):
    file, frame = tmp_path / "rows.parquet", Frame()
    form = Format.PARQUET.value
    request = Request("t", "current", "", str(file), limit=limit, format=form)
    answer(frame, request, None, None)
    assert file.read_text() == "part-0.snappy.parquet"
    assert list(tmp_path.iterdir()) == [file]
    assert frame.asked == [*asked, ("coalesce", 1)]
