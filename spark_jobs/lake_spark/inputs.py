"""Which landing files a table has taken in, and which are unseen.

A log commit carries the id of an Inputs object; the object names the files of
that commit and of all before it, so one read answers what was ever taken.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from lake_spark.errors import RefusedInput
from lake_spark.landing import LandingFile
from lake_spark.object_store import ObjectStore

WIDE, PARTIAL, WITHDRAWN = "wide", "partial", "withdrawn"
"""Rows about every key; values that the source did not send; files that are void."""

RENAMED = "renamed"
"""Creates that lack values which their old keys had."""

NARROW = "narrow:"
"""Before the path of a double that came as a float."""


@dataclass(frozen=True)
class Taken:
    """One landing file that was taken in."""

    path: str
    etag: str
    landed_at: str
    extract_at: Optional[str] = None
    scopes: Sequence[str] = ()


@dataclass(frozen=True)
class Inputs:
    """The files of one log commit (`files`) and of those before (`earlier`).

    A file that was withdrawn is in neither until it is taken in anew.
    """

    files: Tuple[Taken, ...] = ()
    earlier: Tuple[Taken, ...] = ()
    accounting: Dict[str, Dict[str, int]] = field(default_factory=dict)
    definition: Dict[str, str] = field(default_factory=dict)
    holds: Tuple[str, ...] = ()
    """What the log has that costs the fold more: WIDE, PARTIAL, RENAMED, WITHDRAWN..."""
    redos: int = 0
    """How many redos the log has had, this commit's among them."""
    withdrawn: Tuple[Taken, ...] = ()
    """Files whose sightings this commit makes void."""
    redo: Tuple[str, ...] = ()
    """Paths to take anew before the tables may be built: a redo of extracts."""
    newest_event: Optional[str] = None
    """The newest effective time that was ever taken in, as ISO 8601 in UTC."""
    accepted: Optional[int] = 0
    """Rows that this commit and all before it accepted, also of files that were withdrawn
    since; None where a commit of a release that did not count them is among them."""
    withdrawing: Tuple[Taken, ...] = ()
    """What the commit to come will withdraw; never stored."""

    @property
    def id(self) -> str:
        """A hash: the same files after the same past, by the same settings."""
        files = [asdict(each) for each in self.earlier + self.files]
        redone = [self.redos, self.redo]
        text = json.dumps([files, self.definition, redone], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def all(self) -> Tuple[Taken, ...]:
        """Every file that was ever taken in, oldest first."""
        return self.earlier + self.files

    @property
    def newest(self) -> Optional[str]:
        """When the newest of them landed, as ISO 8601 in UTC."""
        times = [datetime.fromisoformat(each.landed_at) for each in self.all]
        return max(times).isoformat() if times else None

    def unseen(
        self,
        found: Sequence[LandingFile],
        domain: str,
        ours: Mapping[Tuple[str, str], Sequence[str]],
    ) -> List[LandingFile]:
        """The files found that were never taken in.

        Another content under a known path is refused: nobody can tell whether
        it corrects the old rows or was put there by mistake. `ours` are contents
        that an erase put there: (path, ETag before) -> ETags.
        """
        known: Dict[str, str] = {each.path: each.etag for each in self.all}
        for file in found:
            before = known.get(file.path, file.etag)
            if file.etag not in (before, *ours.get((file.path, before), ())):
                raise RefusedInput(
                    f"{file.path}: has another content than when it was taken in "
                    f"(ETag {known[file.path]}, now {file.etag}). If it corrects the "
                    f"old rows, take it in by the DAG {domain}_redo with files={file.path}; "
                    "else put the old content back and land the new one under a new name."
                )
        return [file for file in found if file.path not in known]

    def next(
        self,
        files: Sequence[LandingFile],
        accounting: Dict[str, Dict[str, int]],
        definition: Dict[str, str],
        holds: Sequence[str] = (),
        newest_event: Optional[str] = None,
    ) -> "Inputs":
        """What a commit of these files after this one carries."""
        taken = tuple(_taken(each) for each in files)
        done = {each.path for each in taken}
        withdrawn = self.withdrawing
        held = {*self.holds, *holds, *([WITHDRAWN] if withdrawn else [])}
        accepted = sum(each.get("accepted", 0) for each in accounting.values())
        return Inputs(
            taken,
            self.all,
            accounting,
            definition,
            tuple(sorted(held)),
            self.redos + bool(withdrawn),
            withdrawn,
            tuple(path for path in self.redo if path not in done),
            max(filter(None, (self.newest_event, newest_event)), default=None),
            None if self.accepted is None else self.accepted + accepted,
        )

    def without(self, files: Sequence[Taken], redo: Sequence[str] = ()) -> "Inputs":
        """This past without those files, which the commit to come will withdraw.

        `redo` names the paths to take anew before the tables may be built.
        """
        gone = {each.path for each in files}
        kept = tuple(each for each in self.all if each.path not in gone)
        return replace(
            self, files=(), earlier=kept, redo=tuple(redo), withdrawing=tuple(files)
        )

    def sparing(self, paths: Sequence[str]) -> "Inputs":
        """Keep those files after all: what should replace them cannot be read."""
        spared = tuple(each for each in self.withdrawing if each.path in paths)
        others = tuple(each for each in self.withdrawing if each.path not in paths)
        return replace(self, earlier=self.earlier + spared, withdrawing=others)


def _taken(file: LandingFile) -> Taken:
    extract_at = file.extract_at.isoformat() if file.extract_at else None
    landed_at = file.landed_at.isoformat()
    return Taken(file.path, file.etag, landed_at, extract_at, file.scopes)


class InputsFolder:
    """The folder of a table that holds its Inputs objects."""

    def __init__(self, store: ObjectStore, uri: str) -> None:
        self._store = store
        self._uri = uri

    def load(self, id: Optional[str]) -> Inputs:
        """The inputs of that id; none before the first commit."""
        if id is None:
            return Inputs()
        data = {"accepted": None, **json.loads(self._store.read(self._file(id)))}
        for name in _FILES:
            data[name] = tuple(Taken(**each) for each in data[name])
        for name in ("holds", "redo"):
            data[name] = tuple(data[name])
        return Inputs(**data)

    def save(self, inputs: Inputs) -> str:
        """Put the object, before the commit that will refer to it; its id."""
        data = asdict(inputs)
        del data["withdrawing"]
        self._store.write(self._file(inputs.id), json.dumps(data, indent=1).encode())
        return inputs.id

    def _file(self, id: str) -> str:
        return f"{self._uri}/{id}.json"


_FILES = ("files", "earlier", "withdrawn")
