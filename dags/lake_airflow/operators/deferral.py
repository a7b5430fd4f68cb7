"""Waits for EMR: deferred where that is safe, else in the worker.

The provider's EMR triggers have traps: up to version 9.34 they forget the
region of their operator, in 9.12 they fail instead of reporting that a step
failed, and they end at the first failed step although others still run. So a
trigger only ever wakes the task; what is true the task asks EMR itself.

A triggerer may stop or lose a trigger, so every deferral has a timeout: then
the scheduler wakes the task. A task stays in the worker for one look.
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import datetime, timedelta, timezone
from typing import Any, NoReturn

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator
from botocore.exceptions import NoRegionError

from lake_airflow.compat import TaskDeferralError, TaskDeferralTimeout
from lake_airflow.emr.hook import is_passing
from lake_airflow.runs.task_notes import TaskNotes

SHORTEST_PAUSE = 10
"""Seconds; a trigger that fires before Airflow has noted the deferral fails the task."""

OTHERS_LOOKS = 4
"""Looks at EMR for each at others' work: it may take hours, and each takes a worker."""

LATE = timedelta(minutes=5)
"""Longest delay of a trigger; after it the scheduler wakes the task itself."""

LONGEST_SLEEP = timedelta(minutes=12)
"""So long a task that waits for steps may sleep before it looks for itself: it is there
before its cluster counts as idle, also where its trigger is lost."""

READS_LIMIT = timedelta(hours=2)
"""Time without an answer of AWS after which a task of a cluster fails."""


class OutlivesTriggers(BaseOperator):
    """Base of an operator that goes on also where the trigger itself failed.

    What it notes is of one try, and so is the method that a trigger wakes: Airflow 3.0
    lets the next try begin in that method, with these notes.
    """

    def notes(self, context: Any) -> TaskNotes:
        """Return what this task has noted in this run; a subclass knows more of it."""
        return TaskNotes(context, self.task_id)

    def begins(self, context: Any) -> None:
        """Forget what an earlier try noted; `execute` does it first."""
        self.notes(context).begin_try(_try_number(context))

    def is_of_before(self, context: Any) -> bool:
        """Return whether it was an earlier try that slept."""
        slept = self.notes(context).try_number
        return slept not in (None, _try_number(context))

    @abstractmethod
    def without_trigger(self, context: Any) -> Any:
        """Go on after a trigger that failed."""

    def reschedule(self, seconds: int) -> NoReturn:
        """Free the worker, and start again after this time."""
        self._pause(seconds, "execute_again")

    def _pause(self, seconds: int, method: str) -> NoReturn:
        pause = timedelta(seconds=max(seconds, SHORTEST_PAUSE))
        self.defer(
            trigger=TimeDeltaTrigger(pause), method_name=method, timeout=pause + LATE
        )

    def execute_again(self, context: Any, event: Any = None) -> Any:
        """Start again after the pause."""
        return self.execute(context)

    def may_ask_again(self, context: Any, error: Exception, limit: timedelta) -> bool:
        """Return whether the error may pass and has not lasted too long in this try."""
        notes, now = self.notes(context), datetime.now(timezone.utc)
        since = notes.reads_fail_since or now
        if not is_passing(error) or now - since > limit:
            return False
        notes.reads_fail_since = since
        self.log.warning("AWS has not answered since %s: %s", since, error)
        return True

    def reads_succeed(self, context: Any) -> None:
        """Note that AWS answers again."""
        notes = self.notes(context)
        if notes.reads_fail_since:
            notes.reads_fail_since = None

    def resume_execution(
        self, next_method: str, next_kwargs: dict[str, Any] | None, context: Any
    ) -> Any:
        """Continue; how the trigger ended matters only if it reports it itself."""
        if self.is_of_before(context):
            self.log.info("An earlier try slept; this one begins anew.")
            return self.execute(context)
        try:
            return super().resume_execution(next_method, next_kwargs, context)
        except TaskDeferralTimeout:
            return self.after_timeout(context)
        except TaskDeferralError:
            self.log.info("The trigger ended early; this task continues without it.")
            return self.without_trigger(context)

    def after_timeout(self, context: Any) -> Any:
        """Continue after the time that the operator gave its trigger."""
        return self.without_trigger(context)


def _try_number(context: Any) -> int:
    return getattr(context["ti"], "try_number", 1)


class WaitsForEmr(OutlivesTriggers):
    """Base, next to one of the provider's for EMR, of an operator that can be woken by
    the provider's triggers."""

    # What the provider's operators have.
    aws_conn_id: str | None
    hook: EmrHook
    waiter_delay: int

    @abstractmethod
    def follow(self, context: Any, *, may_defer: bool) -> Any:
        """Defer, restart or end, by EMR's present state."""

    def poll_again(self) -> NoReturn:
        """Free the worker, and follow what is there after a pause."""
        self._pause(OTHERS_LOOKS * self.waiter_delay, "follow_again")

    def follow_again(self, context: Any, event: Any = None) -> Any:
        """Follow again after the pause."""
        return self.follow(context, may_defer=True)

    def after_failed_read(
        self, context: Any, error: Exception, limit: timedelta, method: str
    ) -> NoReturn:
        """Ask AWS again after a pause, by `method`, until it has failed for so long.

        A read that fails says nothing of what was to be read: throttled, no connection,
        credentials that ended, a cluster that EMR does not know yet. Raises the error
        where it is another, or the time is over.
        """
        if not self.may_ask_again(context, error, limit):
            raise error
        self._pause(OTHERS_LOOKS * self.waiter_delay, method)

    def can_defer(self) -> bool:
        """Return whether a trigger, with the connection alone, asks the same region."""
        try:
            region = EmrHook(aws_conn_id=self.aws_conn_id).conn_region_name
        except NoRegionError:
            return False
        return region == self.hook.conn_region_name

    def execute_complete(self, context: Any, event: Any = None) -> Any:
        """Continue after a trigger's event, with a pause unless it is a success."""
        succeeded = bool(event) and event.get("status") == "success"
        return self.follow(context, may_defer=succeeded)

    @abstractmethod
    def has_begun(self, context: Any) -> bool:
        """Return whether there is something to follow; else the task has yet to act."""

    def after_timeout(self, context: Any) -> Any:
        """Look at EMR at the time that the operator asked for; it may defer again."""
        if not self.has_begun(context):
            return self.execute(context)
        return self.follow(context, may_defer=True)

    def without_trigger(self, context: Any) -> Any:
        """Look once, then pause: a trigger that failed may fail again at once."""
        if not self.has_begun(context):
            return self.execute(context)
        return self.follow(context, may_defer=False)
