"""Airflow's exceptions, from where each supported version keeps them."""

try:
    from airflow.sdk.exceptions import (
        AirflowFailException,
        AirflowSkipException,
        TaskDeferralError,
        TaskDeferralTimeout,
    )
except ImportError:  # Airflow 3.0
    from airflow.exceptions import (  # type: ignore[no-redef]
        AirflowFailException,
        AirflowSkipException,
        TaskDeferralError,
        TaskDeferralTimeout,
    )

__all__ = [
    "AirflowFailException",
    "AirflowSkipException",
    "TaskDeferralError",
    "TaskDeferralTimeout",
]
