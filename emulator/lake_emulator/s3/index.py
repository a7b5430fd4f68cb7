"""Which objects there are: one SQLite file, written before a reply leaves.

One connection behind one lock. That makes conditional writes atomic and a
list complete; every statement takes tens of microseconds.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

SCHEMA = """
create table if not exists objects (
    bucket text, key text, blob text, size integer, etag text,
    modified integer, headers text, version text not null default 'null',
    nth integer not null default 0, primary key (bucket, key)
) without rowid;
create table if not exists past (
    bucket text, key text, blob text, size integer, etag text,
    modified integer, headers text, version text, nth integer,
    primary key (bucket, key, nth)
) without rowid;
create table if not exists uploads (
    id text primary key, bucket text, key text, started integer, headers text
) without rowid;
create table if not exists parts (
    upload text, number integer, blob text, size integer, etag text,
    modified integer, primary key (upload, number)
) without rowid;
"""
ADDED = {
    "version": "text not null default 'null'",
    "nth": "integer not null default 0",
}
"""Columns of `objects` that an index of an earlier emulator does not have."""

NULL = "null"
"""The version of an object of a bucket that keeps none."""

Bound = Union[str, bytes]
"""A key, or bytes, which SQLite orders after every text."""

NO_BOUND = b""
NEWEST = 2**63 - 1


@dataclass(frozen=True)
class ObjectEntry:
    """One version of an object: where its bytes are and what is said of them.

    `nth` orders the versions of a key; a delete marker has no bytes.
    """

    bucket: str
    key: str
    blob: str
    size: int
    etag: str
    modified: int
    headers: dict[str, str]
    version: str = NULL
    nth: int = 0

    @property
    def is_marker(self) -> bool:
        return not self.blob


@dataclass(frozen=True)
class UploadEntry:
    """A multipart upload that is under way."""

    id: str
    bucket: str
    key: str
    started: int
    headers: dict[str, str]


@dataclass(frozen=True)
class PartEntry:
    """One uploaded part."""

    upload: str
    number: int
    blob: str
    size: int
    etag: str
    modified: int


class Index:
    """Objects, uploads and parts by name; hold `lock` across several calls."""

    def __init__(self, path: Path) -> None:
        self.lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        self._db.executescript(SCHEMA)
        known = {row[1] for row in self._rows("pragma table_info(objects)")}
        for name in (name for name in ADDED if name not in known):
            self._db.execute(f"alter table objects add column {name} {ADDED[name]}")

    def close(self) -> None:
        with self.lock:
            self._db.close()

    def blobs(self) -> set[str]:
        rows = self._rows(
            "select blob from objects union all select blob from past"
            " union all select blob from parts"
        )
        return {row[0] for row in rows}

    def find(self, bucket: str, key: str) -> Optional[ObjectEntry]:
        rows = self._rows("select * from objects where bucket=? and key=?", bucket, key)
        return _object(rows[0]) if rows else None

    def put(self, entry: ObjectEntry) -> None:
        self._rows(
            "insert or replace into objects values (?,?,?,?,?,?,?,?,?)", *_row(entry)
        )

    def delete(self, bucket: str, key: str) -> None:
        self._rows("delete from objects where bucket=? and key=?", bucket, key)

    def holds_any(self, bucket: str) -> bool:
        return any(
            self._rows(f"select 1 from {table} where bucket=? limit 1", bucket)
            for table in ("objects", "past")
        )

    def from_key(
        self, bucket: str, prefix: str, first: Bound, limit: int
    ) -> list[ObjectEntry]:
        """Return objects below a prefix, from one key on, in order."""
        rows = self._rows(
            "select * from objects where bucket=? and key>=? and key<?"
            " order by key limit ?",
            *(bucket, _later(prefix, first), end_of(prefix), limit),
        )
        return [_object(row) for row in rows]

    def past(self, bucket: str, key: str) -> list[ObjectEntry]:
        """Return the past versions of a key, and its delete markers; the newest first."""
        rows = self._rows(
            "select * from past where bucket=? and key=? order by nth desc", bucket, key
        )
        return [_object(row) for row in rows]

    def put_past(self, entry: ObjectEntry) -> None:
        self._rows(
            "insert or replace into past values (?,?,?,?,?,?,?,?,?)", *_row(entry)
        )

    def delete_past(self, entry: ObjectEntry) -> None:
        self._rows(
            "delete from past where bucket=? and key=? and nth=?",
            *(entry.bucket, entry.key, entry.nth),
        )

    def versions_after(
        self, bucket: str, prefix: str, key: Bound, nth: int, limit: int
    ) -> list[ObjectEntry]:
        """Return all versions below a prefix that come after one, newer ones first."""
        wanted = (
            "bucket=? and key>=? and key<? and (key>? or nth<?)",
            *(bucket, _later(prefix, key), end_of(prefix), key, nth),
        )
        rows = self._rows(
            f"select * from objects where {wanted[0]} union all"
            f" select * from past where {wanted[0]} order by key, nth desc limit ?",
            *(*wanted[1:], *wanted[1:], limit),
        )
        return [_object(row) for row in rows]

    def put_upload(self, entry: UploadEntry) -> None:
        self._rows(
            "insert into uploads values (?,?,?,?,?)",
            *(entry.id, entry.bucket, entry.key, entry.started),
            json.dumps(entry.headers),
        )

    def find_upload(self, upload: str) -> Optional[UploadEntry]:
        rows = self._rows("select * from uploads where id=?", upload)
        return _upload(rows[0]) if rows else None

    def uploads(self, bucket: str, prefix: str) -> list[UploadEntry]:
        rows = self._rows(
            "select * from uploads where bucket=? and key>=? and key<?"
            " order by key, started",
            *(bucket, prefix, end_of(prefix)),
        )
        return [_upload(row) for row in rows]

    def delete_upload(self, upload: str) -> None:
        with self.transaction():
            self._rows("delete from parts where upload=?", upload)
            self._rows("delete from uploads where id=?", upload)

    def put_part(self, entry: PartEntry) -> None:
        self._rows(
            "insert or replace into parts values (?,?,?,?,?,?)",
            *(entry.upload, entry.number, entry.blob, entry.size),
            *(entry.etag, entry.modified),
        )

    def parts(self, upload: str) -> list[PartEntry]:
        rows = self._rows("select * from parts where upload=? order by number", upload)
        return [PartEntry(*row) for row in rows]

    def transaction(self) -> "_Transaction":
        return _Transaction(self)

    def _rows(self, statement: str, *values: object) -> list[Row]:
        with self.lock:
            return self._db.execute(statement, values).fetchall()


Row = tuple[Any, ...]
"""Of a table of the index."""


class _Transaction:
    """All of its statements are kept, or none; may be nested."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._outer = False

    def __enter__(self) -> None:
        self._index.lock.acquire()
        self._outer = not self._index._db.in_transaction
        if self._outer:
            self._index._db.execute("begin")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if self._outer:
                self._index._db.execute("rollback" if kind else "commit")
        finally:
            self._index.lock.release()


def end_of(prefix: str) -> Bound:
    """Return the first key after all keys with a prefix."""
    start = prefix.rstrip("\U0010ffff")
    if not start:
        return NO_BOUND
    following = ord(start[-1]) + 1
    is_surrogate = 0xD800 <= following <= 0xDFFF
    return start[:-1] + chr(0xE000 if is_surrogate else following)


def _later(prefix: str, key: Bound) -> Bound:
    return key if isinstance(key, bytes) else max(prefix, key)


def _object(row: Row) -> ObjectEntry:
    bucket, key, blob, size, etag, modified, headers, version, nth = row
    return ObjectEntry(
        *(bucket, key, blob, size, etag, modified),
        *(json.loads(headers), version, nth),
    )


def _row(entry: ObjectEntry) -> Row:
    return (
        *(entry.bucket, entry.key, entry.blob, entry.size, entry.etag),
        *(entry.modified, json.dumps(entry.headers), entry.version, entry.nth),
    )


def _upload(row: Row) -> UploadEntry:
    id, bucket, key, started, headers = row
    return UploadEntry(id, bucket, key, started, json.loads(headers))
