"""The release that a run's steps refer to: built from the tree, then uploaded."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from lake_check.parsing import product_plans
from lake_spec.layout.release_files import release_text

from lake_local.errors import Missing
from lake_local.stack import objects
from lake_local.workspace.specs import Specs
from lake_local.workspace.state_dir import StateDirectory


def publish(home: StateDirectory, specs: Specs, s3: Any) -> str:
    """Build the release of the checkout, upload it, point the DAGs to it; return its id.

    The id is a hash of the content, so an unchanged checkout has the same one, and
    several commands may publish at once.
    """
    import bundle  # From spark_jobs/, which only a release needs.

    with tempfile.TemporaryDirectory(prefix="release-", dir=home.root) as folder:
        built, domains = Path(folder) / "release", specs.planned_domains()
        try:
            release = bundle.build(domains, specs.environment, built)
        except FileNotFoundError as error:
            raise Missing(str(error)) from None
        for file in sorted(each for each in built.rglob("*") if each.is_file()):
            key = file.relative_to(built).as_posix()
            objects.put_file(s3, file, f"{_root(specs, release.id)}/{key}")
        plans = product_plans.plans_text(domains, specs.tables)
        _put(Path(folder) / product_plans.FILE, plans, home.root)
        pointer = release_text(release.id, release.sha256)
        _put(Path(folder) / home.release_file.name, pointer, home.root)
    return release.id


def _put(part: Path, text: str, to: Path) -> None:
    """Write a file in one step, as the DAGs read it at any time."""
    part.write_text(text, encoding="utf-8")
    os.replace(part, to / part.name)


def _root(specs: Specs, release: str) -> str:
    return f"{specs.environment.artifacts}/releases/{release}"
