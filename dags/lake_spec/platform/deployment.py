"""Which deployment a cluster is of: the tag that DAGs give it, and that IAM judges by."""

from __future__ import annotations

import hashlib

from lake_spec.model import EnvironmentSpec

DEPLOYMENT_TAG = "lake:deployment"
"""Clusters that a release before made have none: they are told by where their logs lie."""


def deployment(environment: EnvironmentSpec) -> str:
    """Return what tells deployments apart whose environments have one name: their runs
    lie in different places."""
    return hashlib.sha256(environment.runs.encode()).hexdigest()[:16]
