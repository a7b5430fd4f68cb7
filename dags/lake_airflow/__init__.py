"""Airflow DAGs made from table specs: `build_domain(name)` is the way in.

Airflow is imported when that is asked for and not before, so that plans can
be read without it.
"""

from typing import Any

__all__ = ["build_domain"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lake_airflow.build import build_domain

    return build_domain
