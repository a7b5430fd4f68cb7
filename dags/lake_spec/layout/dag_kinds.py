"""The kinds of DAGs that a domain has, and the folders of their runs' reports."""

from __future__ import annotations

from typing import Any, List, Mapping, Set

from lake_spec.layout.dag_names import DAG_KINDS, PRODUCTS, ids_of
from lake_spec.model.choices import HistoryRuns
from lake_spec.model.product import Product


def run_folders(runs: str, domain: str) -> List[str]:
    """List the folders of all runs of a domain, each with a trailing slash."""
    return [f"{runs}/{domain}_{kind}/" for kind in DAG_KINDS]


def dag_ids(domain: Mapping[str, Any]) -> Set[str]:
    """List the ids of the DAGs of a domain.

    Args:
        domain: its spec as data, as releases hold it, also one of an older release.

    Returns:
        An id per kind; `continuous`, `products` and `scd2` only where the domain has
        such runs. None for a domain without tables.
    """
    if not domain.get("tables"):
        return set()
    kinds = set(DAG_KINDS)
    if domain.get("continuous") is None:
        kinds.remove("continuous")
    sources = (table["source"] for table in domain["tables"])
    if not any(each["kind"] == Product.kind for each in sources):
        kinds.remove(PRODUCTS)
    if domain.get("history_runs") != HistoryRuns.OWN_DAG.value:
        kinds.remove("scd2")
    return ids_of(domain["name"], kinds)
