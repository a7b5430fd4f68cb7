"""Up to where a table was pulled by its cursor: a file of state of the table.

It is written after the pulled files have landed. A run that was killed in between
pulls the same rows again, which the change log drops as duplicates. Older releases
kept it in the names of the pulled folders: those are read where there is no file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.facts.pull_folders import CHANGES, LOAD
from lake_spec.model import JdbcChanges
from lake_spec.state.state_format import (
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spec.text.marked_values import row_value
from lake_spark.errors import PullFailed
from lake_spark.sources.staging_folder import folder_at, pulled_before
from lake_spark.tables.table_run import FileRun

Value = Union[Decimal, datetime]

FORMAT = 1
TOLERANCE = timedelta(days=1)
"""How far a recorded end may lie beyond the time at which it was recorded: clocks
differ. It is taken as that time; one further ahead is no end at all."""

_AT = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}"
_NUMBER = r"-?\d+(?:\.\d+)?"
_VALUE = rf"(?:{_AT}\.\d{{6}}|{_NUMBER})"
_NAME = re.compile(
    rf"(?P<at>{_AT})_(?P<cursor>[A-Za-z_][A-Za-z0-9_$]*)_(?:start|{_VALUE})"
    rf"_(?P<to>{_VALUE})"
)


@dataclass(frozen=True)
class Landed:
    """A pull whose rows the next one may read again, and its greatest cursor."""

    path: str
    greatest: Optional[str] = None
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Bookmark:
    """The end of the pulls by a cursor: `to` as text, '' where none has an end.

    `columns` are those of the source whose values the table has as far as it was pulled;
    none where an older release wrote it.
    """

    cursor: str
    to: str = ""
    pulls: Tuple[Landed, ...] = ()
    columns: Tuple[str, ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def end(self) -> Optional[Value]:
        """Return up to where rows were pulled."""
        return value_of(self.to) if self.to else None


def value_of(text: str) -> Value:
    """Return a cursor's value from its text; raise ValueError if it is not one."""
    if re.fullmatch(_NUMBER, text):
        return Decimal(text)
    return datetime.fromisoformat(text)


def text_of(value: Value) -> str:
    """Return the text of a cursor's value."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat("T", "microseconds")


@dataclass(frozen=True)
class BookmarkFile:
    """The bookmark of a run's table."""

    run: FileRun
    pull: JdbcChanges

    @property
    def uri(self) -> str:
        """Return where it lies: next to the table's other state."""
        return f"{self.run.home}/pulled.json"

    def load(self) -> Tuple[Bookmark, Optional[bytes]]:
        """Load the bookmark, and the file's content for `save`.

        One of another cursor is ignored.
        """
        try:
            content = self.run.store.read(self.uri)
        except KeyError:
            return self._of_folders(), None
        data = parse_state(
            content,
            what=f"the bookmark of {self.run.spec.full_name}",
            where=self.uri,
            reads=FORMAT,
            release=self.run.report.release,
        )
        found = from_fields(Bookmark, data)
        if found.cursor != self.pull.cursor:
            return Bookmark(self.pull.cursor), content
        pulls = tuple(from_fields(Landed, each) for each in data.get("pulls", ()))
        columns = tuple(data.get("columns", ()))
        return replace(found, pulls=pulls, columns=columns), content

    def save(self, bookmark: Bookmark, before: Optional[bytes]) -> None:
        """Write it, if it still is what was loaded; raise PullFailed if it is not."""
        try:
            now: Optional[bytes] = self.run.store.read(self.uri)
        except KeyError:
            now = None
        if now != before:
            raise PullFailed(
                f"{self.run.spec.full_name}: another run changed the bookmark {self.uri}"
                " while this one pulled. Start the run again: the landed files stay, and"
                " the same rows are pulled again."
            )
        text = state_text(
            to_fields(bookmark),
            version=FORMAT,
            release=self.run.report.release,
            indent=1,
        )
        self.run.store.write(self.uri, text.encode())

    def _of_folders(self) -> Bookmark:
        """Return what folders' names say, and a load that was landed without a bookmark."""
        found = [
            *self._of_load(),
            *(
                each
                for top in (LOAD, CHANGES)
                for name in pulled_before(self.run, top)
                for each in self._of_name(top, name)
            ),
        ]
        ends = [value_of(each.to) for each in found if each.to]
        newest = max((e for e in ends if isinstance(e, type(ends[-1]))), default=None)
        return Bookmark(
            self.pull.cursor,
            text_of(newest) if newest is not None else "",
            tuple(landed for each in found for landed in each.pulls),
        )

    def _of_name(self, top: str, name: str) -> Iterator[Bookmark]:
        said = _NAME.fullmatch(name)
        if said is None or said.group("cursor") != self.pull.cursor:
            return
        path, to = f"{top}/{name}", said.group("to")
        if re.fullmatch(_NUMBER, to):
            yield Bookmark(self.pull.cursor, to, (Landed(path, to),))
            return
        end = datetime.strptime(to, "%Y-%m-%dT%H-%M-%S.%f")
        at = datetime.strptime(said.group("at"), "%Y-%m-%dT%H-%M-%S")
        landed = (Landed(path, text_of(end)),)
        if end > at + TOLERANCE:
            words = (
                f"the bookmark in the name of {row_value(path)}/ is in the future and is ignored:"
                f" {row_value(end)}. Rows since the pull before it are pulled again."
            )
            self.run.warn(WarningId.FUTURE_BOOKMARK, words)
            yield Bookmark(self.pull.cursor, "", landed)
            return
        # Clocks differ; but the table was read then, and no later.
        yield Bookmark(
            self.pull.cursor, text_of(min(end, at + timedelta(seconds=1))), landed
        )

    def _of_load(self) -> Iterator[Bookmark]:
        for name in pulled_before(self.run, LOAD):
            facts = folder_at(self.run, f"{LOAD}/{name}").facts() or {}
            said: Dict[str, Any] = facts.get("bookmark") or {}
            if said.get("cursor") == self.pull.cursor:
                pulls = [from_fields(Landed, each) for each in said.get("pulls", ())]
                yield Bookmark(self.pull.cursor, said.get("to", ""), tuple(pulls))


def moved(
    bookmark: Bookmark,
    end: Optional[Value],
    landed: Iterable[Landed],
    since: Optional[Value],
) -> Bookmark:
    """Return the bookmark after a pull, with earlier pulls whose rows may be read again."""
    pulls: List[Landed] = [
        each for each in bookmark.pulls if since is None or _reaches(each, since)
    ]
    pulls += landed
    to = text_of(end) if end is not None else bookmark.to
    return replace(bookmark, to=to, pulls=tuple(pulls))


def _reaches(landed: Landed, since: Value) -> bool:
    """Return whether a pull can have landed rows from `since` on.

    One without an end can.
    """
    if landed.greatest is None:
        return True
    try:
        greatest = value_of(landed.greatest)
    except (ValueError, InvalidOperation):
        return True
    return not isinstance(greatest, type(since)) or not is_less(greatest, since)


def is_less(one: Value, other: Value) -> bool:
    """Compare two values of a cursor; raise TypeError for a number and a time."""
    if isinstance(one, datetime) and isinstance(other, datetime):
        return one < other
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one < other
    raise TypeError(f"a {type(one).__name__} is not compared with another kind")
