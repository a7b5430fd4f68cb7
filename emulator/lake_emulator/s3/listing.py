"""What a list request shows: keys and common prefixes, page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Union

from lake_emulator.s3.index import NEWEST, Bound, Index, ObjectEntry, end_of

Entry = Union[ObjectEntry, str]
BATCH = 1000


@dataclass
class Page:
    """One page: entries in key order; a string is a common prefix."""

    entries: list[Entry] = field(default_factory=list)
    next_marker: Optional[str] = None

    @property
    def objects(self) -> list[ObjectEntry]:
        return [entry for entry in self.entries if isinstance(entry, ObjectEntry)]

    @property
    def prefixes(self) -> list[str]:
        return [entry for entry in self.entries if isinstance(entry, str)]


def list_page(
    index: Index, bucket: str, *, prefix: str, delimiter: str, marker: str, limit: int
) -> Page:
    """Return up to `limit` entries after the marker; `next_marker` if there are more."""
    page, last = Page(), marker
    first: Bound = _next(marker) if marker else ""
    while limit > 0:
        batch = index.from_key(bucket, prefix, first, min(BATCH, limit + 1))
        for entry in batch:
            shown = _common_prefix(entry.key, prefix, delimiter)
            if shown and shown == marker:
                first = end_of(shown)  # the page before ended with this prefix
                break
            if len(page.entries) == limit:
                page.next_marker = last
                return page
            page.entries.append(shown or entry)
            last = shown or entry.key
            first = end_of(shown) if shown else _next(entry.key)
            if shown:
                break  # skip the keys below it with one query
        else:
            if len(batch) < min(BATCH, limit + 1):
                break
    return page


def _next(key: str) -> str:
    """Return the first key that can follow one."""
    return f"{key}\0"


@dataclass
class VersionPage:
    """One page of versions, each with whether it is the newest of its key."""

    entries: list[Union[tuple[ObjectEntry, bool], str]] = field(default_factory=list)
    next_marker: Optional[tuple[str, str]] = None
    """Key and version of the last entry, if there are more; of a prefix no version."""


def list_versions(
    index: Index,
    bucket: str,
    *,
    prefix: str,
    delimiter: str,
    marker: tuple[str, int],
    limit: int,
) -> VersionPage:
    """Return up to `limit` versions after one, which is known by its key and number.

    Number -1 stands for all versions of a key.
    """
    page, last, previous = VersionPage(), (marker[0], ""), marker[0]
    place: tuple[Bound, int] = marker
    while limit > 0:
        batch = index.versions_after(bucket, prefix, *place, min(BATCH, limit + 1))
        for entry in batch:
            shown = _common_prefix(entry.key, prefix, delimiter)
            if shown and shown == marker[0]:
                place = (end_of(shown), NEWEST)  # the page before ended with it
                break
            if len(page.entries) == limit:
                page.next_marker = last
                return page
            page.entries.append(shown or (entry, entry.key != previous))
            last = (shown, "") if shown else (entry.key, entry.version)
            place = (end_of(shown), NEWEST) if shown else (entry.key, entry.nth)
            previous = entry.key
            if shown:
                break
        else:
            if len(batch) < min(BATCH, limit + 1):
                break
    return page


def _common_prefix(key: str, prefix: str, delimiter: str) -> str:
    if not delimiter:
        return ""
    end = key.find(delimiter, len(prefix))
    return key[: end + len(delimiter)] if end >= 0 else ""
