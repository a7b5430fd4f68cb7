"""Owns the format version of files of state: how they are read and written by any release.

A file of state is a JSON object that one run writes and a later one reads, perhaps one of
an older release after a rollback. Its `format` is the least version that reads it rightly:
it is raised only by a change that an older release would misread, so a release that writes
one more field leaves it as it is. Fields that a release does not know are kept, so that
writing the object again loses nothing. Objects without a version are of version 1.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any, Dict, Mapping, Optional, Type, TypeVar, Union, cast

from lake_spec.diagnostics.errors import LakeError

FORMAT, WRITTEN_BY = "format", "written_by"
UNKNOWN = "unknown"
"""Attribute in which a dataclass keeps unknown fields."""

T = TypeVar("T")


class UnreadableState(LakeError, ValueError):
    """A file of state is damaged, or another release wrote it.

    Fix: Deploy the release that wrote it or a later one; restore a damaged file from
    its earlier version (docs/disaster-recovery.md).
    """


def parse_state(
    content: Union[str, bytes],
    *,
    what: str,
    where: str,
    reads: int = 1,
    release: str = "",
) -> Dict[str, Any]:
    """Parse a file of state.

    Args:
        content: the JSON text of the object.
        what: what it is, for messages: "the state of table shop.orders".
        where: its address, for messages.
        reads: the newest version that the caller understands.
        release: the release that reads it, for messages.

    Returns:
        All fields of the object, unknown ones too.

    Raises:
        UnreadableState: it is of a newer version, or no JSON object.
    """
    try:
        data = json.loads(content)
        if not isinstance(data, dict):
            raise ValueError(f"a JSON {type(data).__name__}, not an object")
    except ValueError as error:
        raise UnreadableState(
            f"{what} cannot be read: {str(error)[:200]}. Location: {where}. Restore "
            "an older version of the object."
        ) from None
    refuse_newer(data, what=what, where=where, reads=reads, release=release)
    return data


def refuse_newer(
    data: Mapping[str, Any],
    *,
    what: str,
    where: str,
    reads: int = 1,
    release: str = "",
) -> None:
    """Raise UnreadableState where parsed state is of a newer version than `reads`."""
    version = data.get(FORMAT, 1)
    if isinstance(version, int) and version <= reads:
        return
    writer = data.get(WRITTEN_BY)
    by = f" (written by release {str(writer)[:100]})" if writer else ""
    who = f"this release ({release})" if release else "this release"
    raise UnreadableState(
        f"{what} has format {str(version)[:20]}{by}, {who} reads {reads}. Location: "
        f"{where}. Deploy a release that reads format {str(version)[:20]}"
        + (f", such as {str(writer)[:100]}." if writer else ".")
    )


def state_text(
    data: Mapping[str, Any],
    *,
    version: int = 1,
    release: str = "",
    indent: Optional[int] = None,
) -> str:
    """Write state as JSON text: its version and the release that writes it, then its fields."""
    head: Dict[str, Any] = {FORMAT: version}
    if release:
        head[WRITTEN_BY] = release
    rest = {name: value for name, value in data.items() if name not in head}
    return json.dumps({**head, **rest}, indent=indent)


def from_fields(shape: Type[T], data: Mapping[str, Any]) -> T:
    """Make a dataclass of its fields in `data`.

    Other fields go into its attribute `unknown`, where it has one, else they are passed
    over: `unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)`.
    """
    names = {each.name for each in fields(cast(Any, shape))}
    known = {n: value for n, value in data.items() if n in names and n != UNKNOWN}
    if UNKNOWN in names:
        head = (FORMAT, WRITTEN_BY)
        others = {n: v for n, v in data.items() if n not in known and n not in head}
        known[UNKNOWN] = others
    return shape(**known)


def to_fields(value: Any) -> Any:
    """Give the JSON-ready data of a dataclass, with the fields that it kept unknown.

    What is nested in it (dataclasses, lists, tuples, mappings) is written alike.
    """
    if is_dataclass(value) and not isinstance(value, type):
        own = {
            each.name: to_fields(getattr(value, each.name))
            for each in fields(value)
            if each.name != UNKNOWN
        }
        kept = getattr(value, UNKNOWN, None) or {}
        return {**{n: v for n, v in kept.items() if n not in own}, **own}
    if isinstance(value, Mapping):
        return {name: to_fields(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_fields(each) for each in value]
    return value
