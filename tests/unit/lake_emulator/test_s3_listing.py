"""Lists: in key order, page by page, with common prefixes.

The bucket holds a/1 .. a/3, b/x/1, b/y/1, c and c/1.
"""

from __future__ import annotations

import pytest

from lake_emulator.s3.index import ObjectEntry

SIZES = [1, 3, *(pytest.param(each, marks=pytest.mark.nightly) for each in (2, 4, 6))]
KEYS = ["a/1", "a/2", "a/3", "b/x/1", "b/y/1", "c", "c/1"]


@pytest.fixture
def filled(s3, bucket):
    for key in reversed(KEYS):
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    return bucket


def test_all_keys_come_in_order(s3, filled):
    assert listed(s3, filled) == KEYS


def test_a_prefix_narrows_the_list(s3, filled):
    assert listed(s3, filled, Prefix="b/") == ["b/x/1", "b/y/1"]
    assert listed(s3, filled, Prefix="c") == ["c", "c/1"]
    assert listed(s3, filled, Prefix="d") == []


def test_a_delimiter_shows_folders(s3, filled):
    page = s3.list_objects_v2(Bucket=filled, Delimiter="/")
    assert [entry["Key"] for entry in page["Contents"]] == ["c"]
    assert prefixes(page) == ["a/", "b/", "c/"]
    assert page["KeyCount"] == 4


def test_a_delimiter_below_a_prefix_shows_its_folders(s3, filled):
    page = s3.list_objects_v2(Bucket=filled, Prefix="b/", Delimiter="/")
    assert prefixes(page) == ["b/x/", "b/y/"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", ["list_objects_v2", "list_objects"])
@pytest.mark.parametrize("delimiter", ["", "/"])
def test_pages_of_any_size_show_each_entry_once(s3, filled, call, size, delimiter):
    pages = s3.get_paginator(call).paginate(
        Bucket=filled, Delimiter=delimiter, PaginationConfig={"PageSize": size}
    )
    found = []
    for page in pages:
        found += [entry["Key"] for entry in page.get("Contents", [])]
        found += prefixes(page)
    assert sorted(found) == (["a/", "b/", "c", "c/"] if delimiter else KEYS)


def test_a_page_that_ends_with_a_folder_goes_on_after_it(s3, filled):
    page = s3.list_objects(Bucket=filled, Delimiter="/", MaxKeys=1)
    assert (prefixes(page), page["NextMarker"]) == (["a/"], "a/")
    page = s3.list_objects(Bucket=filled, Delimiter="/", MaxKeys=1, Marker="a/")
    assert (prefixes(page), page["NextMarker"]) == (["b/"], "b/")


def test_a_list_can_start_after_a_key(s3, filled):
    assert listed(s3, filled, StartAfter="b/x/1") == ["b/y/1", "c", "c/1"]


def test_a_list_shows_a_put_and_a_delete_at_once(s3, bucket):
    for number in range(20):
        s3.put_object(Bucket=bucket, Key=f"{number:02}", Body=b"x")
        assert len(listed(s3, bucket)) == number + 1
    s3.delete_object(Bucket=bucket, Key="07")
    assert "07" not in listed(s3, bucket)


def test_folders_of_2000_keys_are_found_by_one_query_each(
    emulator, s3, bucket, monkeypatch
):
    index, queries = emulator.store.index, []
    with index.transaction():
        for number in range(2_000):
            key = f"part={number % 100}/{number:05}"
            entry = ObjectEntry(bucket, key, f"{number:032x}", 1, "etag", 0, {})
            index.put(entry)
    from_key = index.from_key
    monkeypatch.setattr(index, "from_key", lambda *a: queries.append(a) or from_key(*a))
    page = s3.list_objects_v2(Bucket=bucket, Delimiter="/")
    assert len(prefixes(page)) == 100
    assert len(queries) == 101
    assert len(listed(s3, bucket)) == 1000


def listed(s3, bucket, **request):
    page = s3.list_objects_v2(Bucket=bucket, **request)
    return [entry["Key"] for entry in page.get("Contents", [])]


def prefixes(page):
    return [entry["Prefix"] for entry in page.get("CommonPrefixes", [])]
