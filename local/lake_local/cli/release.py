"""The release that a run's steps refer to: built from the tree, then uploaded."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from lake_local.cli import objects
from lake_local.cli.home import Home
from lake_local.cli.specs import Specs


def publish(home: Home, specs: Specs, s3: Any) -> str:
    """Build what the tree holds now, upload it, tell the DAGs; the release id.

    The id is made from the content, so an unchanged tree gives the same one.
    """
    import bundle  # From spark_jobs/, which only a release needs.

    shutil.rmtree(home.release, ignore_errors=True)
    release = bundle.build(specs.domains(), specs.environment, home.release)
    for file in sorted(each for each in home.release.rglob("*") if each.is_file()):
        key = file.relative_to(home.release).as_posix()
        objects.put_file(s3, file, f"{_root(specs, release.id)}/{key}")
    part = home.release_file.with_suffix(".part")
    part.write_text(json.dumps({"release": release.id}), encoding="utf-8")
    os.replace(part, home.release_file)
    return release.id


def _root(specs: Specs, release: str) -> str:
    return f"{specs.environment.artifacts}/releases/{release}"
