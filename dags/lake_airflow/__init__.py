"""Airflow DAGs made from specs: `build_domain(name)`, `build_reaper()` and
`build_proof()` are the ways in.

Airflow is imported when that is asked for and not before, so that plans can
be read without it.
"""

from typing import Any

__all__ = ["build_domain", "build_proof", "build_reaper"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lake_airflow import build

    return getattr(build, name)
