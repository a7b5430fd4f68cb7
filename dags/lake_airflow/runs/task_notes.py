"""What the tasks of a run note, as XComs: all keys, and what each has.

A task notes what its own next look needs, after a deferral, and what the tasks after it
need. Airflow deletes the notes of a task when it is cleared or tried again; between two
looks of one try they stay, also where a new release arrives. So a key keeps its name and
its form: who reads `ends` may be younger than who wrote it.

    notes = StageNotes(context, self.task_id)
    notes.follows = True           # pushes the XCom `follows` of this task
    FirstTaskNotes.of_run(context).cause   # pulls that of another task; None without one

Everyone who may see a run in Airflow sees its notes: no secret belongs here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar, overload

from lake_spec.layout.dag_names import CREATE_TASK, RELEASE_NOTE

T = TypeVar("T")

# Text, not the task's output: that would make every stage a direct follower of
# the setup task, and Airflow wants those to run only if it succeeded.
CLUSTER_ID = f"{{{{ ti.xcom_pull(task_ids='{CREATE_TASK}') or '' }}}}"


class Note(Generic[T]):
    """One note of a task: an attribute whose value is an XCom.

    `read` makes the value of what JSON has, None where nothing was noted; `write` makes
    what JSON has of the value.
    """

    def __init__(
        self,
        key: str,
        read: Callable[[Any], T],
        write: Callable[[T], Any] = lambda value: value,
    ) -> None:
        self.key = key
        self._read = read
        self._write = write

    @overload
    def __get__(self, notes: None, owner: type[TaskNotes]) -> Note[T]: ...

    @overload
    def __get__(self, notes: TaskNotes, owner: type[TaskNotes]) -> T: ...

    def __get__(self, notes: TaskNotes | None, owner: type[TaskNotes]) -> Note[T] | T:
        return self if notes is None else self._read(notes.pull(self.key))

    def __set__(self, notes: TaskNotes, value: T) -> None:
        notes.push(self.key, self._write(value))


def _as_it_is(value: Any) -> Any:
    return value


def _moment(value: Any) -> datetime | None:
    """Read a time in ISO 8601, with its offset."""
    return datetime.fromisoformat(value) if value else None


def _iso(value: datetime | None) -> str | None:
    return value.isoformat() if value else None


class TaskNotes:
    """What every task notes that goes on after a deferral."""

    try_number: Note[int | None] = Note("try", _as_it_is)
    """The number of the try that the other notes of the task are of."""
    reads_fail_since: Note[datetime | None] = Note("reads_fail_since", _moment, _iso)
    """Since when AWS gave no answer."""

    def __init__(self, context: Any, task_id: str) -> None:
        self._ti = context["ti"]
        self.task_id = task_id

    def pull(self, key: str) -> Any:
        """Return what the task noted under a key; None where it noted nothing."""
        return self._ti.xcom_pull(task_ids=self.task_id, key=key)

    def push(self, key: str, value: Any) -> None:
        """Note a value. Raises ValueError for notes of another task: those are its own."""
        if self._ti.task_id != self.task_id:
            raise ValueError(
                f"{key}: {self._ti.task_id} cannot note it for {self.task_id}. Let"
                " that task note it itself."
            )
        self._ti.xcom_push(key=key, value=value)

    def begin_try(self, number: int) -> None:
        """Forget what an earlier try noted: Airflow 3.0 may let a try begin with it."""
        before = self.try_number
        if before == number:
            return
        if before is not None:
            for key in self.keys():
                if key != TaskNotes.try_number.key:
                    self.push(key, None)
        self.try_number = number

    @classmethod
    def keys(cls) -> Iterator[str]:
        """List the keys of what such a task notes."""
        for each in cls.__mro__:
            for value in vars(each).values():
                if isinstance(value, Note):
                    yield value.key


class ReleaseNotes(TaskNotes):
    """What a task notes that says which release it runs as."""

    release: Note[str | None] = Note(RELEASE_NOTE, _as_it_is)
    """The release, also where the task refuses to run; a deploy reads it."""


class FirstTaskNotes(ReleaseNotes):
    """What create_cluster notes, next to the cluster's id that it returns."""

    run: Note[Mapping[str, Any] | None] = Note("run", _as_it_is)
    """The pinned run, as `Run.to_xcom` writes it, perhaps of another release."""
    cause: Note[str | None] = Note("cause", _as_it_is)
    """Why there is no cluster."""
    no_news: Note[str | None] = Note("no_news", _as_it_is)
    """Why the run had nothing to do, mostly the run that did it."""
    waits_since: Note[datetime | None] = Note("waits_since", _moment, _iso)
    """Since when this try waits for other runs."""

    @classmethod
    def of_run(cls, context: Any) -> FirstTaskNotes:
        """Return what the first task of the context's run noted."""
        return cls(context, CREATE_TASK)

    @property
    def cluster_id(self) -> str | None:
        """The cluster that the task returned; None where it returned none."""
        found: str | None = self._ti.xcom_pull(task_ids=self.task_id)
        return found


class StageNotes(TaskNotes):
    """What the task of a stage notes."""

    follows: Note[bool] = Note("follows", bool)
    """Whether this try has submitted its steps, or found those to follow."""
    known: Note[set[str] | None] = Note(
        "known",
        lambda ids: None if ids is None else set(ids),
        lambda ids: None if ids is None else sorted(ids),
    )
    """Ids of the steps that were there before this try submitted its own."""
    cancelled: Note[dict[str, datetime]] = Note(
        "cancelled",
        lambda of: {k: datetime.fromisoformat(v) for k, v in (of or {}).items()},
        lambda of: {k: v.isoformat() for k, v in of.items()},
    )
    """When it first cancelled a step of others, by the step's id."""
    forced_on: Note[str | None] = Note("forced", _as_it_is)
    """The cluster on which it ended a step by force."""
    steps: Note[list[dict[str, Any]] | None] = Note("steps", _as_it_is)
    """How each of its steps ended; empty where there was nothing to do."""


class Termination(NamedTuple):
    """A cluster whose termination was requested, and when."""

    cluster: str
    since: datetime

    @classmethod
    def from_note(cls, noted: Mapping[str, str] | None) -> Termination | None:
        """Read a note; None without one."""
        if not noted:
            return None
        return cls(noted["cluster"], datetime.fromisoformat(noted["since"]))


class LastTaskNotes(TaskNotes):
    """What terminate_cluster notes."""

    termination: Note[Termination | None] = Note(
        "ends",
        Termination.from_note,
        lambda it: it and {"cluster": it.cluster, "since": it.since.isoformat()},
    )
    """The cluster whose end it waits for."""
    minutes: Note[dict[str, float]] = Note("minutes", lambda value: value or {})
    """Minutes of the cluster by table."""
