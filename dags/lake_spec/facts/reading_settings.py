"""The settings by which files are read: they count for files that are ingested from now on.

Rows of earlier files stay as they were read, for a source may come to write other files
without being wrong before. So a change is no redefinition: the plan of a deploy and the
first run with it say so.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

OF_ROWS = ("null_text", "quoted_null", "escape", "extended", "numbers")
"""What a format says of values that stand in stored rows: a change is a redefinition."""
_OF_SOURCE = (
    *("path", "files", "load", "changes", "duplicate_keys"),
    *("new_columns", "ignore_columns"),
)
_OF_COLUMN = ("dropped", "on_type_mismatch")


def reading_settings(table: Mapping[str, Any]) -> Dict[str, Any]:
    """Return them by their dotted names, of a table as `to_data` of any release gives it.

    None if it has no files.
    """
    source = table["source"]
    if "format" not in source:
        return {}
    found = {f"source.{name}": source[name] for name in _OF_SOURCE if name in source}
    if "files" in (source.get("full_refresh") or ()):
        found["source.full_refresh.files"] = source["full_refresh"]["files"]
    for name, value in source["format"].items():
        if name not in OF_ROWS:
            found[f"source.format.{name}"] = value
    for column, settings in table.get("columns", ()):
        named = {n: settings[n] for n in _OF_COLUMN if n in settings}
        found.update({f"columns.{column}.{n}": value for n, value in named.items()})
    if "quality" in table:
        found["quality"] = table["quality"]
    return found


def changed_reading(old: Mapping[str, Any], new: Mapping[str, Any]) -> List[str]:
    """Return the names that differ; what either does not name is unknown, not changed."""
    return [name for name in old if name in new and old[name] != new[name]]
