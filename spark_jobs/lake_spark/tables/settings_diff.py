"""Which settings differ from those that a table was made with, without Spark.

A definition is flat: the path of a setting -> its value as JSON. A table may
have been made with an older or a newer model: a setting that its definition
does not name had the model's default, one that the model no longer has does not count.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Tuple

from lake_spark.schema.promotion import keeps_key_text, stored_type, widens

Definition = Dict[str, str]


def changed(recorded: Definition, now: Definition, chosen: Definition) -> List[str]:
    """Return in words the settings that changed, each with its old and its new value.

    `chosen` is `now` without what equals a default.
    """
    differing = [
        f"{name} was {old}, now {now.get(name, 'removed')}"
        for name, old in recorded.items()
        if not _is_kept(name, old, now, chosen)
    ]
    added = [
        f"{name} was not set, now {chosen[name]}"
        for name in chosen
        if name not in recorded and _was_there(name, recorded)
    ]
    return differing + added


def _was_there(name: str, recorded: Definition) -> bool:
    """Return whether what the setting is about was in the table's definition."""
    if name.startswith("columns."):
        return f"columns.{name.split('.')[1]}.type" in recorded
    return bool(recorded)


def _is_kept(name: str, old: str, now: Definition, chosen: Definition) -> bool:
    is_column, setting = name.startswith("columns."), name.rsplit(".", 1)[-1]
    if name not in now:
        return not (is_column and setting == "type")
    before, after = json.loads(old), json.loads(now[name])
    if name == "source.operation" and before and after:
        before, after = _without_new_words(before, after)
    if is_column and setting == "source":  # a rename is declared by a further name
        return set(before) <= set(after)
    if is_column and setting == "type":
        is_key = name.split(".")[1] in json.loads(now.get("key", "[]"))
        return _is_as_wide(before, after, is_key)
    return _is_same(before, after, json.loads(chosen.get(name, "null")))


_WORDS = ("upsert", "delete", "load", "truncate", "ignore")


def _without_new_words(before: Any, after: Any) -> Tuple[Any, Any]:
    """Return both settings without words that were in no list, and sorted.

    No stored row has such a word: records with one are in the quarantine.
    """
    known = {word for name in _WORDS for word in before.get(name, ())}
    kept = [
        {n: sorted(known.intersection(each.get(n, ()))) for n in _WORDS}
        for each in (before, after)
    ]
    return {**before, **kept[0]}, {**after, **kept[1]}


def _is_as_wide(before: str, after: str, is_key: bool) -> bool:
    old, new = stored_type(before), stored_type(after)
    return widens(old, new) and (not is_key or keeps_key_text(old, new))


def _is_same(old: Any, new: Any, chosen: Any) -> bool:
    """Return whether both are equal, where a part that the old one lacks is the default."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return bool(old == new)
    chosen = chosen or {}
    return all(
        (
            _is_same(old[name], value, chosen.get(name))
            if name in old
            else name not in chosen
        )
        for name, value in new.items()
    )
