"""Which landing files a table has ingested, and which are unseen: an object for each commit.

A log commit carries the id of such an object. It holds the commit's own files,
the few of the commits before it that are in no part yet, and the names of parts: immutable
objects that hold the other files. So a commit writes as much as it ingests, however many
files precede it (ingested_file_parts.py, decision 041).
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from lake_spec.state.state_format import (
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spark.errors import ChangedFile
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_file_parts import (
    PartFolder,
    PartTable,
    Ref,
    folded,
    unreadable,
)
from lake_spark.storage.object_store import ObjectStore

FORMAT = 2
"""The version of the objects that are written; version 1 held every file in each object."""

KEPT_FOR = timedelta(days=7)
"""So long an object stays after another took its place: runs may be using it."""

READ_FOR = timedelta(days=1)
"""So long the parts of such an object stay too."""


@dataclass(frozen=True)
class IngestedFile:
    """One landing file that was ingested; `checksum` is as stores give it, if they do."""

    path: str
    etag: str
    landed_at: str
    snapshot_at: Optional[str] = None
    scopes: Sequence[str] = ()
    size: Optional[int] = None
    checksum: Optional[str] = None
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def to_data(self) -> Dict[str, Any]:
        """Return its JSON-ready fields, without those that say nothing."""
        optional = {
            name: getattr(self, name) for name in _OPTIONAL if getattr(self, name)
        }
        if self.scopes:
            optional["scopes"] = list(self.scopes)
        own = {"path": self.path, "etag": self.etag, "landed_at": self.landed_at}
        return {**self.unknown, **own, **optional}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "IngestedFile":
        """Make it of what `to_data` gave, or a later release wrote."""
        return from_fields(cls, {**data, "scopes": tuple(data.get("scopes") or ())})


_OPTIONAL = ("snapshot_at", "size", "checksum")

Compared = Callable[[Sequence[Tuple[IngestedFile, LandingFile]]], Sequence[bool]]
"""Whether files whose ETags differ have the same content."""


def no_other_content(
    pairs: Sequence[Tuple[IngestedFile, LandingFile]],
) -> Sequence[bool]:
    """Judge by ETags alone."""
    return [False for _ in pairs]


_SNAPSHOT, _NARROW = "snapshot:", "narrow:"
"""Before a log position, and before the path of a double, in a stored text."""


@dataclass(frozen=True)
class LogContents:
    """What the change log has that its fold must look for."""

    has_all_key_events: bool = False
    """Rows about every key."""
    has_unsent_values: bool = False
    """Values that the source did not send."""
    has_key_changes: bool = False
    """Creates that name the keys which their rows had before."""
    retracted: bool = False
    """Files that are void."""
    snapshots: FrozenSet[str] = frozenset()
    """The log positions at which a connector read its snapshots, as JSON."""
    float_paths: FrozenSet[str] = frozenset()
    """The paths of doubles that arrived as floats."""
    unknown: FrozenSet[str] = frozenset()
    """What a later release wrote."""

    @property
    def mixes_keys(self) -> bool:
        """Return whether a key's rows may depend on deliveries that are not its own."""
        return self.has_all_key_events or self.has_unsent_values or self.has_key_changes

    def __or__(self, other: "LogContents") -> "LogContents":
        both = (
            (f.name, getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)
        )
        return LogContents(**{name: one | another for name, one, another in both})

    def to_texts(self) -> List[str]:
        """Return what is stored, sorted."""
        flags = [word for name, word in _FLAGS.items() if getattr(self, name)]
        snapshots = [_SNAPSHOT + each for each in self.snapshots]
        narrow = [_NARROW + each for each in self.float_paths]
        return sorted([*flags, *snapshots, *narrow, *self.unknown])

    @classmethod
    def of(cls, texts: Iterable[str]) -> "LogContents":
        """Make it of what `to_texts` gave, or a later release wrote."""

        def after(prefix: str) -> FrozenSet[str]:
            return frozenset(t[len(prefix) :] for t in texts if t.startswith(prefix))

        others = {t for t in texts if not t.startswith((_SNAPSHOT, _NARROW))}
        flags = {name: True for name, word in _FLAGS.items() if word in others}
        unknown = frozenset(others.difference(_FLAGS.values()))
        return cls(
            **flags,
            snapshots=after(_SNAPSHOT),
            float_paths=after(_NARROW),
            unknown=unknown,
        )


_FLAGS = {
    "has_all_key_events": "wide",
    "has_unsent_values": "partial",
    "has_key_changes": "renamed",
    "retracted": "retracted",
}
"""The word that is stored for each."""


@dataclass(frozen=True)
class IngestedFiles:
    """The files of one log commit (`files`) and of those before it.

    A file that was retracted is in neither until it is ingested again.
    """

    files: Tuple[IngestedFile, ...] = ()
    """The commit's own, but where they are too many: then in the last `own_parts`."""
    recent: Tuple[IngestedFile, ...] = ()
    """Of earlier commits, in no part yet."""
    parts: Tuple[Ref, ...] = ()
    """Where the others are, oldest first; a later entry of a path replaces it."""
    removed: Tuple[str, ...] = ()
    """Paths of the parts that no longer count."""
    own_parts: int = 0
    count: int = 0
    """How many files were ingested, all in all."""
    newest: Optional[str] = None
    """When the newest of them landed, as ISO 8601 in UTC."""
    snapshots: Tuple[Tuple[Optional[str], str], ...] = ()
    """The time of the newest snapshot per scope value, sorted."""
    first_snapshot: Optional[str] = None
    definition: Dict[str, str] = field(default_factory=dict)
    contents: LogContents = LogContents()
    reprocesses: int = 0
    """How many reprocesses the log has had, this commit's among them."""
    retracted: Tuple[IngestedFile, ...] = ()
    """Files whose deliveries this commit makes void."""
    reprocess: Tuple[str, ...] = ()
    """Paths to take again before the tables may be built: a reprocess of snapshots."""
    newest_event: Optional[str] = None
    """The newest effective time that was ever ingested, as ISO 8601 in UTC."""
    accepted: Optional[int] = 0
    """Rows that this commit and all before it accepted, also of files that were retracted
    since; None where a commit of a release that did not count them is among them."""
    parent: Optional[str] = None
    """The id of the object before it."""
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)
    retracting: Tuple[IngestedFile, ...] = ()
    """What the next commit will retract; never stored."""
    again: Dict[str, str] = field(default_factory=dict, compare=False)
    """New ETags of files whose content is the same, as `unseen` found; never stored."""
    folder: Optional[PartFolder] = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Name the object: a hash of the files of its commit and of all before it.

        The same files after the same past, by the same settings, have the same id.
        """
        own = [
            (e.path, e.etag, e.landed_at, e.snapshot_at, list(e.scopes))
            for e in self.files
        ]
        gone = [each.path for each in self.retracted]
        reprocessed = [self.reprocesses, self.reprocess]
        text = json.dumps(
            [self.parent, own, gone, self.definition, reprocessed], sort_keys=True
        )
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def _folder(self) -> PartFolder:
        """Return where its parts are: what has parts was loaded from a folder."""
        assert self.folder is not None, "parts of no folder"
        return self.folder

    @cached_property
    def _stored(self) -> PartTable:
        return self._folder.table(self.parts) if self.parts else PartTable()

    @cached_property
    def _over(self) -> Dict[str, Optional[IngestedFile]]:
        """Return what differs from the parts: path -> file, None if it does not count."""
        over: Dict[str, Optional[IngestedFile]] = dict.fromkeys(self.removed)
        for each in (*self.recent, *self.files):
            over.pop(each.path, None)  # it is where it was ingested last
            over[each.path] = each
        over.update(dict.fromkeys(each.path for each in self.retracting))
        return over

    @property
    def paths(self) -> Iterator[str]:
        """Yield the paths of all files that were ingested, oldest first."""
        over = self._over
        yield from (path for path in self._stored.rows if path not in over)
        yield from (path for path, each in over.items() if each is not None)

    @property
    def all(self) -> List[IngestedFile]:
        """Return every file that was ever ingested, oldest first."""
        over, stored = self._over, self._stored
        found = [IngestedFile.of(stored.entry(p)) for p in stored.rows if p not in over]
        return found + [each for each in over.values() if each is not None]

    @property
    def own(self) -> List[IngestedFile]:
        """Return the files of this commit, wherever they are stored."""
        if not self.own_parts:
            return list(self.files)
        names = self.parts[-self.own_parts :]
        return [
            IngestedFile.of(e)
            for ref in names
            for e in self._folder.read(ref).entries()
        ]

    def known(self, path: str) -> IngestedFile:
        """Return the file of a path that was ingested; raise KeyError for another."""
        found = self.find(path)
        if found is None:
            raise KeyError(path)
        return found

    def find(self, path: str) -> Optional[IngestedFile]:
        """Return the file of a path, if it was ingested."""
        if path in self._over:
            return self._over[path]
        return (
            IngestedFile.of(self._stored.entry(path))
            if path in self._stored.rows
            else None
        )

    @property
    def newest_snapshots(self) -> Dict[Optional[str], datetime]:
        """Return the time of the newest snapshot that counts, per scope value."""
        found = self._facts[1]
        return {scope: datetime.fromisoformat(at) for scope, at in found}

    @property
    def oldest_snapshot(self) -> Optional[datetime]:
        """Return the time of the first snapshot that counts."""
        first = self._facts[2]
        return datetime.fromisoformat(first) if first else None

    @cached_property
    def snapshot_times(self) -> FrozenSet[str]:
        """Return the times of all snapshots that count, as ISO 8601."""
        return frozenset(each.snapshot_at for each in self.all if each.snapshot_at)

    @cached_property
    def _facts(self) -> "_Facts":
        """Return (newest, snapshots, first_snapshot), without what is being retracted."""
        if self.retracting:
            return _facts_of(self.all)
        return (self.newest, self.snapshots, self.first_snapshot)

    def unseen(
        self,
        found: Sequence[LandingFile],
        domain: str,
        ours: Mapping[Tuple[str, str], Sequence[str]],
        compared: Compared = no_other_content,
    ) -> List[LandingFile]:
        """Choose the files found that were never ingested.

        Another content under a known path is refused: nobody can say whether
        it corrects the old rows or was put there by mistake. `ours` are contents
        that an erase put there: (path, ETag before) -> ETags. Where an ETag differs
        `compared` is asked, for it need not be a hash of the content; new ETags of the
        same content are remembered by the next commit.
        """
        over, rows, etags = self._over, self._stored.rows, self._stored.etags
        unseen: List[LandingFile] = []
        differing: List[LandingFile] = []
        for file in found:
            if file.path in over:
                known = over[file.path]
                before = known.etag if known else None
            else:
                row = rows.get(file.path)
                before = None if row is None else etags[row]
            if before is None:
                unseen.append(file)
            elif file.etag not in (before, *ours.get((file.path, before), ())):
                differing.append(file)
        if differing:
            self._remember(differing, domain, compared)
        return unseen

    def _remember(
        self, files: Sequence[LandingFile], domain: str, compared: Compared
    ) -> None:
        pairs = [(self.known(file.path), file) for file in files]
        for (before, file), is_same in zip(pairs, compared(pairs)):
            if not is_same:
                raise ChangedFile(
                    f"{file.path} was changed after it was ingested (ETag {before.etag} -> "
                    f"{file.etag}). To ingest the new content run the DAG "
                    f"{domain}_reprocess with files={file.path}. Otherwise restore the file "
                    "and land the new content under a new name."
                )
            self.again[file.path] = file.etag

    def next(
        self,
        files: Sequence[LandingFile],
        accounting: Mapping[str, Mapping[str, int]],
        definition: Dict[str, str],
        contents: LogContents = LogContents(),
        newest_event: Optional[str] = None,
        checksums: Mapping[str, str] = {},
    ) -> "IngestedFiles":
        """Make what a commit of these files after this one carries.

        `accounting` has the counts of each path, `checksums` those of the contents.
        """
        taken = tuple(_taken(each, checksums.get(each.path)) for each in files)
        done = {each.path for each in taken}
        gone = {each.path for each in self.retracting}
        again = [
            replace(self.known(path), etag=etag)
            for path, etag in self.again.items()
            if path not in done and path not in gone
        ]
        moved = done | gone | {each.path for each in again}
        before = (*self.recent, *self.files)
        void = LogContents(retracted=bool(self.retracting))
        accepted = sum(each.get("accepted", 0) for each in accounting.values())
        newest, snapshots, first = _facts_of(taken, self._facts)
        return replace(
            self,
            files=taken,
            recent=(*(each for each in before if each.path not in moved), *again),
            removed=tuple(dict.fromkeys((*self.removed, *sorted(gone)))),
            own_parts=0,
            count=self.count - len(gone) + len(taken),
            newest=newest,
            snapshots=snapshots,
            first_snapshot=first,
            definition=definition,
            contents=self.contents | contents | void,
            reprocesses=self.reprocesses + bool(self.retracting),
            retracted=self.retracting,
            reprocess=tuple(path for path in self.reprocess if path not in done),
            newest_event=max(
                filter(None, (self.newest_event, newest_event)), default=None
            ),
            accepted=None if self.accepted is None else self.accepted + accepted,
            retracting=(),
            again={},
        )

    def without(
        self, files: Sequence[IngestedFile], reprocess: Sequence[str] = ()
    ) -> "IngestedFiles":
        """Return this past without those files, which the next commit will retract.

        `reprocess` names the paths to take again before the tables may be built.
        """
        return replace(self, reprocess=tuple(reprocess), retracting=tuple(files))

    def sparing(self, paths: Sequence[str]) -> "IngestedFiles":
        """Keep those files after all: what should replace them cannot be read."""
        others = tuple(each for each in self.retracting if each.path not in paths)
        return replace(self, retracting=others)


def _taken(file: LandingFile, checksum: Optional[str]) -> IngestedFile:
    snapshot_at = file.snapshot_at.isoformat() if file.snapshot_at else None
    landed_at = file.landed_at.isoformat()
    return IngestedFile(
        file.path, file.etag, landed_at, snapshot_at, file.scopes, file.size, checksum
    )


_Facts = Tuple[Optional[str], Tuple[Tuple[Optional[str], str], ...], Optional[str]]


def _facts_of(
    files: Iterable[IngestedFile], before: _Facts = (None, (), None)
) -> _Facts:
    """Return (newest, snapshots, first_snapshot) of files and of those before."""
    newest, known, first = before
    snapshots = dict(known)
    for each in files:
        newest = _later(newest, each.landed_at)
        if each.snapshot_at is None:  # a file of a feed
            continue
        for scope in each.scopes or (None,):
            snapshots[scope] = _later(snapshots.get(scope), each.snapshot_at)
        if first is None or _timestamp(each.snapshot_at) < _timestamp(first):
            first = each.snapshot_at
    return newest, tuple(sorted(snapshots.items(), key=repr)), first


def _later(one: Optional[str], other: str) -> str:
    if one is None or one == other:
        return other
    return max(one, other, key=_timestamp)


def _timestamp(text: str) -> datetime:
    return datetime.fromisoformat(text)


class IngestedFilesFolder:
    """The folder of a table that holds these objects and their parts."""

    def __init__(
        self, store: ObjectStore, uri: str, table: str = "", release: str = ""
    ) -> None:
        self._store = store
        self._uri = uri
        self._what = (
            f"the state of table {table}" if table else "the state of the table"
        )
        self._release = release
        self._parts = PartFolder(store, f"{uri}/parts", self._what, release)
        self._last: Tuple[Optional[str], IngestedFiles] = (
            None,
            IngestedFiles(folder=self._parts),
        )

    def load(self, id: Optional[str]) -> IngestedFiles:
        """Read the object of that id; none but empty lists before the first commit.

        UnreadableState where only a newer release reads them.
        """
        if id is None:
            return IngestedFiles(folder=self._parts)
        if self._last[0] != id:
            self._last = id, self._read(id)
        return replace(self._last[1], again={})

    def _read(self, id: str) -> IngestedFiles:
        where = self._file(id)
        try:
            content = self._store.read(where)
        except KeyError as error:
            raise unreadable(self._what, where, error) from None
        origin = dict(what=self._what, where=where, release=self._release)
        data = parse_state(content, reads=FORMAT, **origin)
        try:
            found = _ingested_of(data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise unreadable(self._what, where, error) from None
        return replace(found, parent=id, folder=self._parts)

    def save(self, ingested: IngestedFiles) -> str:
        """Put the object, before the commit that will refer to it; return its id.

        Files go into parts where there are more than a few, parts first.
        """
        id = ingested.id
        laid_out = self._laid_out(ingested)
        bare = replace(laid_out, files=(), recent=(), retracted=(), folder=None)
        data = {n: each for n, each in to_fields(bare).items() if n not in _NEVER}
        del data["contents"]
        data["holds"] = laid_out.contents.to_texts()
        for name in ("files", "recent", "retracted"):
            data[name] = [each.to_data() for each in getattr(laid_out, name)]
        text = state_text(data, version=FORMAT, release=self._release, indent=1)
        self._store.write(self._file(id), text.encode())
        return id

    def _laid_out(self, ingested: IngestedFiles) -> IngestedFiles:
        """Lay out the same files, moving those too many for the object into parts."""
        found = folded(
            self._parts,
            ingested.parts,
            ingested.removed,
            [each.to_data() for each in ingested.recent],
            [each.to_data() for each in ingested.files],
            ingested.count,
        )
        return replace(
            ingested,
            parts=found.parts,
            removed=found.removed,
            recent=() if found.is_folded else ingested.recent,
            files=() if found.own_parts else ingested.files,
            own_parts=found.own_parts,
        )

    def sweep(self, needed: Set[str], now: datetime) -> int:
        """Remove objects and parts that nothing needs any more; return how many.

        `needed` are the ids that commits carry to which the table can be taken back.
        Others stay for KEPT_FOR after the next object was put, for a run that was killed
        or that still reads; so does every part of that age.
        """
        found = self._store.list(f"{self._uri}/")
        parts = [each for each in found if each.uri.startswith(f"{self._parts.uri}/")]
        ids: Dict[str, datetime] = {
            _id_of(each.uri): each.modified
            for each in found
            if each.uri == self._file(_id_of(each.uri))
        }
        newest_first = sorted(ids, key=ids.__getitem__, reverse=True)
        until = dict(zip(newest_first[1:], map(ids.__getitem__, newest_first)))
        kept = {id for id in ids if id in needed or now - until.get(id, now) < KEPT_FOR}
        read = [
            id for id in kept if id in needed or now - until.get(id, now) < READ_FOR
        ]
        with ThreadPoolExecutor(8) as pool:
            refs = [e for each in pool.map(self._parts_of, read) for e in each]
        places = {self._parts.place(each) for each in refs}
        of_parts = {each.uri for each in parts}
        gone = [
            each
            for each in found
            if each.uri not in of_parts and _id_of(each.uri) not in kept
        ]
        gone += [
            each
            for each in parts
            if each.uri not in places and now - each.modified >= KEPT_FOR
        ]
        for each in gone:
            self._store.delete(each.uri)
        return len(gone)

    def _parts_of(self, id: str) -> List[str]:
        return [each.part for each in self._read(id).parts]

    def _file(self, id: str) -> str:
        return f"{self._uri}/{id}.json"


def _ingested_of(data: Dict[str, Any]) -> IngestedFiles:
    """Return the ingested files that an object says, of whatever version."""
    data = {"accepted": None, **data}
    for name in ("files", "recent", "earlier", "retracted"):
        data[name] = tuple(IngestedFile.of(each) for each in data.get(name, ()))
    data["contents"] = LogContents.of(_texts(data.pop("holds", ())))
    for name in ("reprocess", "removed"):
        data[name] = tuple(data.get(name, ()))
    data["parts"] = tuple(Ref.of(each) for each in data.get("parts", ()))
    data["snapshots"] = tuple(tuple(each) for each in data.get("snapshots", ()))
    data.pop("accounting", None)
    earlier = data.pop("earlier")
    if "count" not in data:  # version 1: every file is in the object
        data["recent"] = earlier
        every = (*earlier, *data["files"])
        data["count"] = len(every)
        data["newest"], data["snapshots"], data["first_snapshot"] = _facts_of(every)
    data = {name: value for name, value in data.items() if name not in _NEVER}
    found = from_fields(IngestedFiles, data)
    texts = [t for e in (*found.files, *found.recent) for t in (e.path, e.etag)]
    texts += [*found.reprocess, *found.removed]
    numbers = [found.count, found.reprocesses, found.own_parts, found.accepted or 0]
    numbers += [each.files for each in found.parts]
    for kind, values in ((str, texts), (int, numbers), (dict, [found.definition])):
        wrong = next((each for each in values if not isinstance(each, kind)), None)
        if wrong is not None:
            raise TypeError(f"{wrong!r} is not of type {kind.__name__}")
    return found


def _id_of(uri: str) -> str:
    """Return the id that an object's name begins with."""
    return uri.rsplit("/", 1)[-1].split(".")[0]


def _texts(found: Any) -> Tuple[str, ...]:
    wrong = next((each for each in found if not isinstance(each, str)), None)
    if wrong is not None:
        raise TypeError(f"{wrong!r} is not a string")
    return tuple(found)


_NEVER = ("retracting", "again", "folder")
"""Fields that are never stored."""
