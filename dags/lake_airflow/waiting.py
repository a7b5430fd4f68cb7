"""How a task waits for EMR: deferred where that is sound, else in the worker.

The provider's EMR triggers have traps: up to version 9.34 they forget the
region of their operator, in 9.12 they fail instead of telling that a step
failed, and they end at the first failed step although others still run. So a
trigger only ever wakes the task; what is true the task asks EMR itself.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.providers.amazon.aws.hooks.emr import EmrHook
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from botocore.exceptions import NoRegionError

from lake_airflow.airflow_errors import TaskDeferralError, TaskDeferralTimeout

SHORTEST_PAUSE = 10
"""Seconds; a trigger that fires before Airflow has noted the deferral fails the task."""

OTHERS_LOOKS = 4
"""Looks at EMR for each at others' work: it may take hours, and each takes a worker."""


class OutlivesTriggers:
    """Mixin of an operator that goes on also where the trigger itself failed.

    The operator gives `without_trigger(context)`: what it does then.
    """

    def come_again(self, seconds: int) -> None:
        """Leave the worker, and begin anew after so long."""
        pause = timedelta(seconds=max(seconds, SHORTEST_PAUSE))
        self.defer(trigger=TimeDeltaTrigger(pause), method_name="execute_again")

    def execute_again(self, context: Any, event: Any = None) -> Any:
        """After that."""
        return self.execute(context)

    def resume_execution(
        self, next_method: str, next_kwargs: dict[str, Any] | None, context: Any
    ) -> Any:
        """Go on; how the trigger ended only matters if it says so itself."""
        try:
            return super().resume_execution(next_method, next_kwargs, context)
        except TaskDeferralTimeout:
            return self.after_timeout(context)
        except TaskDeferralError:
            self.log.info("The trigger ended early; this task goes on without it.")
            return self.without_trigger(context)

    def after_timeout(self, context: Any) -> Any:
        """After the time that the operator gave its trigger."""
        return self.without_trigger(context)


class WaitsForEmr(OutlivesTriggers):
    """Mixin of an EMR operator that can be woken by the provider's triggers.

    The operator gives `follow(context, may_defer=...)`: it defers, or waits,
    or ends, by what EMR says at that moment.
    """

    def can_defer(self) -> bool:
        """Whether a trigger, with the connection alone, asks the same region."""
        try:
            region = EmrHook(aws_conn_id=self.aws_conn_id).conn_region_name
        except NoRegionError:
            return False
        return region == self.hook.conn_region_name

    def execute_complete(self, context: Any, event: Any = None) -> Any:
        """After a trigger's event; one that is no success ends the deferring."""
        succeeded = bool(event) and event.get("status") == "success"
        return self.follow(context, may_defer=succeeded)

    def after_timeout(self, context: Any) -> Any:
        """The operator wanted to look at that time: it may defer again."""
        return self.follow(context, may_defer=True)

    def without_trigger(self, context: Any) -> Any:
        """Ask EMR from the worker."""
        return self.follow(context, may_defer=False)
