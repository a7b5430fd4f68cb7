"""Settings by which files are read, of specs as releases hold them."""

from __future__ import annotations

from lake_spec.facts.reading_settings import changed_reading, reading_settings

FORMAT = {"type": "csv", "delimiter": ",", "null_text": [""]}
OLD = {"name": "orders", "source": {"kind": "feed", "path": "a", "format": FORMAT}}


def test_a_spec_of_a_release_that_knew_less_says_less():
    found = reading_settings(OLD)
    assert found == {
        "source.path": "a",
        "source.format.type": "csv",
        "source.format.delimiter": ",",
    }


def test_what_only_one_of_two_releases_knows_has_not_changed():
    column = {"dropped": False, "on_type_mismatch": "refuse"}
    new = {**OLD, "columns": [["id", column]], "quality": [{"column": "id"}]}
    assert changed_reading(reading_settings(OLD), reading_settings(new)) == []
    other = {**new, "columns": [["id", {**column, "dropped": True}]]}
    found = changed_reading(reading_settings(new), reading_settings(other))
    assert found == ["columns.id.dropped"]


def test_a_table_without_files_has_none():
    assert reading_settings({"source": {"kind": "product", "sql": "SELECT 1"}}) == {}
