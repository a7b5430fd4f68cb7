"""Ids of the DAGs of a domain. The plugin has a link to this file: it imports nothing."""

from __future__ import annotations

from typing import Iterable, Set

FULL_LOAD, INCREMENTAL, REBUILD = "full_load", "incremental", "rebuild"

REPROCESS = "reprocess"
"""The stage, and the kind of DAG, whose runs choose the landing files they are about."""

PRODUCTS = "products"
"""The kind of DAG that builds the products of a domain alone."""

PROOF, PROOF_TASK = "lake_proof", "prove"
"""The DAG that proves a release, in a file of that name, and its one task."""

REAPER = "lake_reaper"
"""The DAG that ends clusters which no run needs any more."""

RELEASE_NOTE = "release"
"""What the tasks that first say which release they run as note it under, as an XCom."""

CREATE_TASK = "create_cluster"
"""The task of a run that waits for the lease of its domain, and creates its cluster."""

DAG_KINDS = (
    *("continuous", "erase", FULL_LOAD, INCREMENTAL),
    *("maintenance", PRODUCTS, REBUILD, REPROCESS, "scd2"),
)
"""Kinds whose runs have a folder; a test compares them with the DAGs."""


def ids_of(domain: str, kinds: Iterable[str] = DAG_KINDS) -> Set[str]:
    """Give the ids that the DAGs of these kinds have in a domain of that name."""
    return {f"{domain}_{kind}" for kind in kinds}
