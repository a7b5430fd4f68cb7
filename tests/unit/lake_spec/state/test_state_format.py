"""State that another release wrote is read, kept whole, or refused by one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Tuple

import pytest

from lake_spec.state.state_format import (
    UnreadableState,
    from_fields,
    parse_state,
    state_text,
    to_fields,
)

PLACE = {"what": "the state of table shop.orders", "where": "s3://lake/inputs/a.json"}


@dataclass(frozen=True)
class File:
    path: str
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Files:
    files: Tuple[File, ...] = ()
    count: int = 0
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


def test_fields_of_a_later_release_are_written_back_also_nested_ones():
    later = {"format": 1, "files": [{"path": "a", "size": 3}], "tags": {"x": [1]}}
    data = parse_state(json.dumps(later), **PLACE)
    files = tuple(from_fields(File, each) for each in data["files"])
    read = from_fields(Files, {**data, "files": files})
    assert (read.files[0].path, read.count) == ("a", 0)
    assert json.loads(state_text(to_fields(read), release="r7")) == {
        "format": 1,
        "written_by": "r7",
        "tags": {"x": [1]},
        "files": [{"size": 3, "path": "a"}],
        "count": 0,
    }


def test_a_dataclass_that_keeps_nothing_passes_over_what_it_does_not_know():
    @dataclass
    class Plain:
        path: str

    assert from_fields(Plain, {"path": "a", "size": 3}) == Plain("a")


def test_state_without_a_version_is_of_version_1():
    assert parse_state(b'{"a": 1}', **PLACE) == {"a": 1}


def test_a_newer_version_is_refused_with_both_releases_and_the_place():
    text = state_text({"a": 1}, version=3, release="r9")
    with pytest.raises(UnreadableState) as refused:
        parse_state(text, reads=2, release="r7", **PLACE)
    assert str(refused.value) == (
        "the state of table shop.orders has format 3 (written by release r9), "
        "this release (r7) reads 2. Location: s3://lake/inputs/a.json. "
        "Deploy a release that reads format 3, such as r9."
    )


@pytest.mark.parametrize("version", ["2", None, 1.5, [1]])
def test_a_version_that_is_no_whole_number_is_refused(version):
    with pytest.raises(UnreadableState, match="has format"):
        parse_state(json.dumps({"format": version}), **PLACE)


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"[1]", b"\xff\xfe"])
def test_what_is_no_json_object_is_refused_by_its_place(content):
    with pytest.raises(UnreadableState) as refused:
        parse_state(content, **PLACE)
    assert "cannot be read" in str(refused.value)
    assert "s3://lake/inputs/a.json" in str(refused.value)
