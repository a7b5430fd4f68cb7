"""Folders of partitions as params of runs name them."""

from __future__ import annotations

import pytest

from lake_spec.layout.partition_folders import is_folder, parts_of


@pytest.mark.parametrize(
    "folder, parts",
    [
        ("year=2026", [("year", "2026")]),
        ("year=2026/month=01", [("year", "2026"), ("month", "01")]),
        ("kind=a%3Ab%20c=d", [("kind", "a:b c=d")]),
        ("_place=Zürich", [("_place", "Zürich")]),
    ],
)
def test_a_folder_is_columns_and_values(folder, parts):
    assert is_folder(folder)
    assert parts_of(folder) == parts


@pytest.mark.parametrize(
    "text",
    [
        *("", "2026", "year=", "=2026", "year=2026/", "/year=2026", "year=2026/../a"),
        *("a b=1", "year=1 OR 1=1", "1year=1", "year=1\n", "y=" + "1" * 511, "ÿ=1"),
    ],
)
def test_what_is_no_folder_is_none(text):
    assert not is_folder(text)
