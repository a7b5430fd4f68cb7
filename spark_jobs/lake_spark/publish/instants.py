"""Which base files a table has at each of its instants, from one listing of its folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Dict, FrozenSet, Iterable, List, Mapping, Tuple

from lake_spec.hudi.file_groups import newest_files
from lake_spec.hudi.file_names import DataFile, data_file
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.storage.object_store import ObjectStore
from lake_spark.storage.timeline import FileChanges

_WHOLE = ("commit", "replacecommit")
"""Actions after which no row of a merge-on-read table is in a log file."""
_AT_ONCE = 16


@dataclass(frozen=True)
class BaseFile:
    """One version of a file group: a Parquet file."""

    path: str
    """Below the table's folder."""
    group: Tuple[str, str]
    """Its partition and id."""
    instant: str
    size: int

    @property
    def partition(self) -> str:
        """Return the folder of its partition, empty where there is none."""
        return self.group[0]


State = FrozenSet[BaseFile]


@dataclass(frozen=True)
class CommitChange:
    """What one commit changed, and how many files and bytes there are after it."""

    instant: str
    added: Tuple[BaseFile, ...]
    removed: Tuple[BaseFile, ...]
    rows: Mapping[str, int]
    files: int
    bytes: int


class Instants:
    """The commits of a table at which its base files are all of its rows, oldest first.

    Copy on write these are all commits; merge on read the first load, compactions and
    rebuilds.
    """

    def __init__(self, table: HudiTable, store: ObjectStore, *, merged: bool) -> None:
        self._table = table
        self._known: Dict[str, FileChanges] = {}
        found: List[DataFile] = []
        self._files: List[BaseFile] = []
        for each in store.list(f"{table.path}/"):
            path = each.uri[len(table.path) + 1 :]
            named = data_file(path)
            if named is None:
                continue
            found.append(named)
            if not named.is_log:
                base = BaseFile(path, named.group, named.instant, each.size)
                self._files.append(base)
        self._order = table.instants()
        if merged:
            self._order.sort(key=lambda each: each.requested)
        else:
            self._order.sort(key=lambda each: (each.completed, each.requested))
        begun = [each.requested for each in self._order] + table.unfinished()
        self._first = min(begun, default="")
        self._places = self._readable(merged, found)

    def _readable(self, merged: bool, found: Iterable[DataFile]) -> List[int]:
        if not merged:
            return list(range(len(self._order)))
        is_whole = not any(each.instant < self._first for each in found)
        places = []
        for place, each in enumerate(self._order):
            if each.action in _WHOLE:
                is_whole = True
            elif is_whole:
                written = self._changes(each.requested).rows
                is_whole = not any(_is_log(path) for path in written)
            if is_whole:
                places.append(place)
        return places

    @property
    def names(self) -> List[str]:
        """Return the instants, as Hudi names them."""
        return [self._order[place].requested for place in self._places]

    def kept(self, commits: int) -> List[str]:
        """Return those that a cleaning leaves readable which keeps so many commits."""
        newest = sorted(each.requested for each in self._order)[-commits:]
        names = self.names
        older = [name for name in names if name < newest[0]]
        stays = [name for name in names if name >= newest[0]]
        return stays if newest[0] in names else [*older[-1:], *stays]

    def state(self, name: str) -> State:
        """Return the files of the table as of that instant."""
        before = self._order[: self._place(name) + 1]
        visible = {each.requested for each in before}
        replaced = {
            group
            for each in before
            if each.action == "replacecommit"
            for group in self._changes(each.requested).replaced
        }
        return frozenset(newest_files(self._files, visible, self._first, replaced))

    def whole(self, name: str) -> CommitChange:
        """Return all files as of an instant as one step."""
        return self._step(name, frozenset(), self.state(name))

    def steps(self, since: str) -> List[CommitChange]:
        """Return what each later instant changed."""
        names = self.names
        later = names[names.index(since) :]
        states = [self.state(name) for name in later]
        pairs = zip(later[1:], states, states[1:])
        return [self._step(name, old, new) for name, old, new in pairs]

    def _step(self, name: str, old: State, new: State) -> CommitChange:
        added = tuple(sorted(new - old, key=lambda file: file.path))
        removed = tuple(sorted(old - new, key=lambda file: file.path))
        size = sum(file.size for file in new)
        return CommitChange(name, added, removed, self._rows(added), len(new), size)

    def _rows(self, files: Iterable[BaseFile]) -> Dict[str, int]:
        """Return the rows of each file: as its commit says, or its footer."""
        found, unknown = {}, []
        active = {each.requested for each in self._order}
        for file in files:
            known = None
            if file.instant in active:
                known = self._changes(file.instant).rows.get(file.path)
            if known is None:
                unknown.append(file)
            else:
                found[file.path] = known
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            counts = pool.map(lambda file: self._table.rows_of_file(file.path), unknown)
            found.update({file.path: count for file, count in zip(unknown, counts)})
        return found

    def _place(self, name: str) -> int:
        (place,) = [p for p in self._places if self._order[p].requested == name]
        return place

    def _changes(self, instant: str) -> FileChanges:
        if instant not in self._known:
            self._known[instant] = self._table.file_changes(instant)
        return self._known[instant]


def _is_log(path: str) -> bool:
    named = data_file(path)
    return named is not None and named.is_log
