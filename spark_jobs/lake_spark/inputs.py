"""Which landing files a table has taken in, and which are unseen.

A log commit carries the id of an Inputs object; the object names the files of
that commit and of all before it, so one read answers what was ever taken.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Dict, List, Optional, Sequence, Tuple

from lake_spark.errors import RefusedInput
from lake_spark.landing import LandingFile
from lake_spark.object_store import ObjectStore

WIDE, PARTIAL, WITHDRAWN = "wide", "partial", "withdrawn"
"""Rows about every key; values that the source did not send; files that are void."""


@dataclass(frozen=True)
class Taken:
    """One landing file that was taken in."""

    path: str
    etag: str
    extract_at: Optional[str] = None


@dataclass(frozen=True)
class Inputs:
    """The files of one log commit (`files`) and of those before (`earlier`)."""

    files: Tuple[Taken, ...] = ()
    earlier: Tuple[Taken, ...] = ()
    accounting: Dict[str, Dict[str, int]] = field(default_factory=dict)
    definition: Dict[str, str] = field(default_factory=dict)
    holds: Tuple[str, ...] = ()
    """What the log has that costs the fold more: WIDE, PARTIAL, WITHDRAWN."""

    @property
    def id(self) -> str:
        """A hash: the same files after the same past, by the same settings."""
        files = [asdict(each) for each in self.earlier + self.files]
        text = json.dumps([files, self.definition], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def all(self) -> Tuple[Taken, ...]:
        """Every file that was ever taken in, oldest first."""
        return self.earlier + self.files

    def unseen(self, found: Sequence[LandingFile]) -> List[LandingFile]:
        """The files found that were never taken in.

        Another content under a known path is refused: nobody can tell whether
        it corrects the old rows or was put there by mistake.
        """
        known: Dict[str, str] = {each.path: each.etag for each in self.all}
        for file in found:
            if known.get(file.path, file.etag) != file.etag:
                raise RefusedInput(
                    f"{file.path}: has another content than when it was taken in "
                    f"(ETag {known[file.path]}, now {file.etag}). Land a correction under "
                    "a new name, or put the old content back."
                )
        return [file for file in found if file.path not in known]

    def next(
        self,
        files: Sequence[LandingFile],
        accounting: Dict[str, Dict[str, int]],
        definition: Dict[str, str],
        holds: Sequence[str] = (),
    ) -> "Inputs":
        """What a commit of these files after this one carries."""
        taken = tuple(
            Taken(f.path, f.etag, f.extract_at.isoformat() if f.extract_at else None)
            for f in files
        )
        held = tuple(sorted({*self.holds, *holds}))
        return Inputs(taken, self.all, accounting, definition, held)


class InputsFolder:
    """The folder of a table that holds its Inputs objects."""

    def __init__(self, store: ObjectStore, uri: str) -> None:
        self._store = store
        self._uri = uri

    def load(self, id: Optional[str]) -> Inputs:
        """The inputs of that id; none before the first commit."""
        if id is None:
            return Inputs()
        data = json.loads(self._store.read(self._file(id)))
        return Inputs(
            tuple(Taken(**each) for each in data["files"]),
            tuple(Taken(**each) for each in data["earlier"]),
            data["accounting"],
            data["definition"],
            tuple(data["holds"]),
        )

    def save(self, inputs: Inputs) -> str:
        """Put the object, before the commit that will refer to it; its id."""
        data = {
            "files": [asdict(each) for each in inputs.files],
            "earlier": [asdict(each) for each in inputs.earlier],
            "accounting": inputs.accounting,
            "definition": inputs.definition,
            "holds": list(inputs.holds),
        }
        self._store.write(self._file(inputs.id), json.dumps(data, indent=1).encode())
        return inputs.id

    def _file(self, id: str) -> str:
        return f"{self._uri}/{id}.json"
