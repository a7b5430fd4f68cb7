"""Whose an entry of the Glue catalogue is: ours if it leads below the table's own folder.

A name says nothing: a database of a domain's name may have tables and views of others. An
entry of ours that somebody led elsewhere is known by a parameter, and led back.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, Mapping, Tuple

from lake_spark.errors import ForeignTable

_VIEW = "VIRTUAL_VIEW"
FOLDER = "lake.folder"
"""Parameter of each entry that is made here: the folder of its table."""

Named = Tuple[str, str]
"""Database and name of an entry."""
Entry = Tuple[Named, Dict[str, Any]]
"""An entry as Glue gives it, behind its name."""


def is_ours(found: Mapping[str, Any], home: str) -> bool:
    """Return whether an entry, as Glue gives it, leads below the folder of a table."""
    location = found.get("StorageDescriptor", {}).get("Location") or ""
    noted = found.get("Parameters", {}).get(FOLDER)
    leads_home = noted == home or f"{location}/".startswith(f"{home}/")
    return found.get("TableType") != _VIEW and leads_home


def refuse_other(found: Mapping[str, Any], named: Named, home: str) -> None:
    """Raise ForeignTable for an entry that is not ours; nothing was changed."""
    if is_ours(found, home):
        return
    location = found.get("StorageDescriptor", {}).get("Location")
    if found.get("TableType") == _VIEW:
        what = "a view"
    else:
        what = f"a table at {location}" if location else "a table without a location"
    raise ForeignTable(
        f"{'.'.join(named)} in the Glue catalogue is {what}, not this table below {home}/. "
        "It was left as it is. Rename or drop it if it is yours, or give the table in the "
        "spec another name."
    )


def refuse_others(glue: Any, names: Iterable[Named], home: str) -> None:
    """Raise ForeignTable where one of these names is taken; ask for each of them."""
    for named, found in _there(glue, names):
        refuse_other(found, named, home)


def entries_of(glue: Any, names: Iterable[Named], home: str) -> Iterator[Entry]:
    """Yield those of these names that are ours: they lead below a table's folder."""
    return (each for each in _there(glue, names) if is_ours(each[1], home))


def remove_ours(glue: Any, names: Iterable[Named], home: str) -> None:
    """Remove the entries of these names that are ours; leave those of others."""
    for (database, name), _ in entries_of(glue, names, home):
        try:
            glue.delete_table(DatabaseName=database, Name=name)
        except glue.exceptions.EntityNotFoundException:
            pass  # somebody else did meanwhile


def _there(glue: Any, names: Iterable[Named]) -> Iterator[Entry]:
    for database, name in names:
        try:
            found = glue.get_table(DatabaseName=database, Name=name)["Table"]
        except glue.exceptions.EntityNotFoundException:
            continue
        yield (database, name), found


def with_theirs(
    wanted: Mapping[str, Any], found: Mapping[str, Any], ours: Tuple[str, ...]
) -> Dict[str, Any]:
    """Return what is wanted of an entry, with the parameters that others gave it.

    Args:
        ours: beginnings of the names of parameters that we alone set.
    """
    theirs = {
        name: value
        for name, value in found.get("Parameters", {}).items()
        if not name.startswith(ours)
    }
    return {**wanted, "Parameters": {**theirs, **wanted["Parameters"]}}
