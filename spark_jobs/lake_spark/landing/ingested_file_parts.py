"""Parts of the ingested files: immutable objects that hold those of long ago.

A part holds columns of equal length (path, etag, ...), and the paths that no longer count
from it on. Parts are folded like a log-structured tree: neighbours of about one size are
merged until they hold FILES, and one of that size is never written again. So each file is
written a few times, whatever their number, and a million are read from a hundred objects.
A part is named by its content: written twice it is the same object. Decision 041.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
import zlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Sequence,
    Tuple,
    Union,
)

from lake_spec.state.state_format import (
    FORMAT,
    UnreadableState,
    WRITTEN_BY,
    from_fields,
    parse_state,
    state_text,
)
from lake_spark.storage.object_store import ObjectStore

SMALL = 200
"""So many files lie in the commit's own object before they go into a part."""

FILES = 10_000
"""A part holds no more, but for those of a commit that voids more: about 0.5 MB."""

_AT_ONCE = 8
"""Parts that are read at the same time."""

Entry = Dict[str, Any]


@dataclass(frozen=True)
class Ref:
    """The name of a part and how many files it holds."""

    part: str
    files: int
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Ref":
        """Make it of the fields that an object has of it."""
        return from_fields(cls, data)


@dataclass(frozen=True)
class Part:
    """Files in columns; `removed` are paths of parts before it that no longer count."""

    columns: Dict[str, List[Any]]
    removed: Tuple[str, ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.columns.get("path", ()))

    @classmethod
    def of(cls, entries: Sequence[Entry], removed: Iterable[str] = ()) -> "Part":
        """Make a part of files, each with the fields that it has."""
        names = dict.fromkeys(("path", *(name for each in entries for name in each)))
        columns = {name: [each.get(name) for each in entries] for name in names}
        return cls(columns, tuple(removed))

    def entries(self) -> Iterator[Entry]:
        """Return the files with the fields that they have."""
        return (_entry(self.columns, row) for row in range(len(self)))

    def followed_by(self, later: "Part") -> "Part":
        """Return one part that says what both say, one after the other."""
        gone = {*later.removed, *later.columns["path"]}
        rows = [i for i, path in enumerate(self.columns["path"]) if path not in gone]
        columns = {
            name: [values[row] for row in rows] + later.column(name)
            for name, values in ((n, self.column(n)) for n in self.names(later))
        }
        return Part(columns, tuple(dict.fromkeys((*self.removed, *later.removed))))

    def names(self, other: "Part") -> List[str]:
        """Return the columns of both."""
        return list(dict.fromkeys((*self.columns, *other.columns)))

    def column(self, name: str) -> List[Any]:
        """Return the values of a column, one per file."""
        return self.columns.get(name) or [None] * len(self)


def _entry(columns: Mapping[str, List[Any]], row: int) -> Entry:
    found = ((name, values[row]) for name, values in columns.items())
    return {name: value for name, value in found if value is not None}


class PartTable:
    """The files of all parts side by side; `rows` says where that of a path is."""

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        self.rows: Dict[str, int] = {}
        self._columns: Dict[str, List[Any]] = {}
        size = 0
        for part in parts:
            for path in part.removed:
                self.rows.pop(path, None)
            paths = part.columns["path"]
            self.rows.update(zip(paths, range(size, size + len(paths))))
            for name in part.columns:
                self._columns.setdefault(name, [None] * size)
            for name, values in self._columns.items():
                values.extend(part.column(name))
            size += len(paths)
        self.etags: List[str] = self._columns.get("etag", [])

    def __len__(self) -> int:
        """Return how many files are held, those that no longer count too."""
        return len(self.etags)

    def entry(self, path: str) -> Entry:
        """Return the fields of the file of a path."""
        return _entry(self._columns, self.rows[path])


_TABLES: "OrderedDict[str, Tuple[Tuple[str, ...], PartTable]]" = OrderedDict()
_MOST_FILES = 2_000_000
"""So many files are kept in memory over all tables of a step: rounds read them once."""
_LOCK = threading.Lock()


class PartFolder:
    """The folder of a table that holds the parts of its ingested files."""

    def __init__(self, store: ObjectStore, uri: str, what: str, release: str) -> None:
        self._store = store
        self._what = what
        self._release = release
        self.uri = uri

    def place(self, name: str) -> str:
        """Return the address of a part."""
        return f"{self.uri}/{name}.json.gz"

    def read(self, ref: Ref) -> Part:
        """Read one part."""
        where = self.place(ref.part)
        try:
            text = unpacked(self._store.read(where))
        except (KeyError, EOFError, OSError, zlib.error) as error:
            raise unreadable(self._what, where, error) from None
        data = parse_state(text, what=self._what, where=where, release=self._release)
        known = ("columns", "removed", FORMAT, WRITTEN_BY)
        others = {name: value for name, value in data.items() if name not in known}
        try:
            columns = data["columns"]
            lengths = {len(columns["path"]), *map(len, columns.values())}
            if len(lengths) > 1 or ref.files not in lengths:
                raise TypeError(
                    f"columns of {sorted(lengths)} files, not of {ref.files}"
                )
            return Part(columns, tuple(data.get("removed", ())), others)
        except (AttributeError, KeyError, TypeError) as error:
            raise unreadable(self._what, where, error) from None

    def write(self, part: Part) -> Ref:
        """Put a part; return a Ref to it."""
        data = {
            "removed": list(part.removed),
            "columns": _columns_with_values(part),
            **part.unknown,
        }
        text = state_text(data).encode()
        name = hashlib.sha256(text).hexdigest()[:32]
        self._store.write(self.place(name), gzip.compress(text, 6, mtime=0))
        return Ref(name, len(part))

    def table(self, refs: Sequence[Ref]) -> PartTable:
        """Read the files of these parts; only once as long as they are the same."""
        names = tuple(each.part for each in refs)
        with _LOCK:
            known, table = _TABLES.get(self.uri, ((), None))
            if table is not None and known == names:
                _TABLES.move_to_end(self.uri)
                return table
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            table = PartTable(list(pool.map(self.read, refs)))
        with _LOCK:
            _TABLES[self.uri] = names, table
            _TABLES.move_to_end(self.uri)
            while len(_TABLES) > 1 and _held() > _MOST_FILES:
                _TABLES.popitem(last=False)
        return table


def _held() -> int:
    return sum(len(table) for _, table in _TABLES.values())


def _columns_with_values(part: Part) -> Dict[str, List[Any]]:
    """Return its columns without those that say nothing of any file."""
    return {
        name: values
        for name, values in part.columns.items()
        if name == "path" or any(value is not None for value in values)
    }


def unreadable(what: str, where: str, error: Exception) -> UnreadableState:
    """Return the error of an object that is missing, or is not what was written."""
    is_gone = isinstance(error, KeyError) and error.args == (where,)
    why = "it does not exist" if is_gone else repr(error)[:200]
    return UnreadableState(
        f"{what} cannot be read: {why}. It is at {where}. Restore an older version of the "
        "object."
    )


def unpacked(content: bytes) -> bytes:
    """Return the text of an object that may be packed by gzip."""
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


Stack = List[Union[Ref, Part]]


@dataclass(frozen=True)
class Layout:
    """Which parts hold the files, and which files are in none."""

    parts: Tuple[Ref, ...]
    removed: Tuple[str, ...]
    is_folded: bool
    """Whether the recent files went into parts."""
    own_parts: int
    """How many of the last parts hold the commit's own files; 0 if they are in none."""


def folded(
    folder: PartFolder,
    parts: Sequence[Ref],
    removed: Sequence[str],
    recent: Sequence[Entry],
    own: Sequence[Entry],
    count: int,
) -> Layout:
    """Lay out the files of a commit: parts are written where there are more than a few.

    `count` is how many files count, all in all. Parts that hold more files that do not
    count than such that do are written again, without them.
    """
    if len(recent) + len(own) + len(removed) <= SMALL:
        return Layout(tuple(parts), tuple(removed), False, 0)
    stack: Stack = list(parts)
    chunks = _chunks(recent) or ([[]] if removed else [])
    stack += [Part.of(e, () if i else removed) for i, e in enumerate(chunks)]
    held = sum(map(_size, stack))
    living = count - len(own)
    if held - living > max(living, FILES):
        stack = _without_dead(folder, stack)
    stack = _settled(folder, stack)
    own_stack = [Part.of(each) for each in _chunks(own)] if len(own) > SMALL else []
    refs = [
        folder.write(each) if isinstance(each, Part) else each
        for each in (*stack, *own_stack)
    ]
    return Layout(tuple(refs), (), True, len(own_stack))


def _chunks(entries: Sequence[Entry]) -> List[Sequence[Entry]]:
    return [entries[first : first + FILES] for first in range(0, len(entries), FILES)]


def _size(each: Union[Ref, Part]) -> int:
    return each.files if isinstance(each, Ref) else len(each)


def _settled(folder: PartFolder, stack: Stack) -> Stack:
    """Merge neighbours at the end as long as the earlier one is not much larger."""
    stack = list(stack)
    while len(stack) > 1:
        earlier, later = _size(stack[-2]), _size(stack[-1])
        if earlier + later > FILES or earlier > 2 * later:
            break
        both = [_part(folder, each) for each in stack[-2:]]
        if both[0].unknown or both[1].unknown:  # who wrote them knows what they say
            break
        stack[-2:] = [both[0].followed_by(both[1])]
    return stack


def _part(folder: PartFolder, each: Union[Ref, Part]) -> Part:
    return each if isinstance(each, Part) else folder.read(each)


def _without_dead(folder: PartFolder, stack: Stack) -> Stack:
    """Put the files that count into new parts."""
    table = PartTable([_part(folder, each) for each in stack])
    living = [table.entry(path) for path in table.rows]
    return [Part.of(each) for each in _chunks(living)]
