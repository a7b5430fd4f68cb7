"""The kinds of DAGs that a domain has, and the folders of their runs' reports."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Set

from lake_spec.model.choices import HistoryRuns
from lake_spec.model.product import Product

PRODUCTS = "products"
"""The kind of DAG that builds the products of a domain alone."""

DAG_KINDS = (
    *("continuous", "erase", "full_load", "incremental"),
    *("maintenance", PRODUCTS, "rebuild", "reprocess", "scd2"),
)
"""Kinds whose runs have a folder; a test compares them with the DAGs."""


def run_folders(runs: str, domain: str) -> List[str]:
    """List the folders of all runs of a domain, each with a trailing slash."""
    return [f"{runs}/{domain}_{kind}/" for kind in DAG_KINDS]


def dag_ids(domain: Mapping[str, Any]) -> Set[str]:
    """List the ids of the DAGs of a domain.

    Args:
        domain: its spec as data, as releases hold it, also one of an older release.

    Returns:
        An id per kind; `continuous`, `products` and `scd2` only where the domain has
        such runs.
    """
    kinds = set(DAG_KINDS)
    if domain.get("continuous") is None:
        kinds.remove("continuous")
    sources = (table["source"] for table in domain.get("tables", ()))
    if not any(each["kind"] == Product.kind for each in sources):
        kinds.remove(PRODUCTS)
    if domain.get("history_runs") != HistoryRuns.OWN_DAG.value:
        kinds.remove("scd2")
    return ids_of(domain["name"], kinds)


def ids_of(domain: str, kinds: Iterable[str] = DAG_KINDS) -> Set[str]:
    """Give the ids that the DAGs of these kinds have in a domain of that name."""
    return {f"{domain}_{kind}" for kind in kinds}
