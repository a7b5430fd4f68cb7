"""A release: the Spark code as a zip, its main program, and every domain's spec.

The release id is a hash of the content, so the same tree gives the same id and
a release, once uploaded, never changes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Sequence

SPARK_JOBS = Path(__file__).resolve().parent
DAGS = SPARK_JOBS.parent / "dags"

PACKAGES = (SPARK_JOBS / "lake_spark", DAGS / "lake_spec")
"""What a step imports."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every zip entry: a zip of the same files is the same bytes."""


@dataclass(frozen=True)
class Release:
    """A built release and the folder that holds its files."""

    id: str
    folder: Path


def build(
    domains: Sequence, environment, out_dir: Path, *, besides: Any = None
) -> Release:
    """Write lake.zip, main.py and specs/<domain>.json into `out_dir`.

    `domains` are DomainSpecs, `environment` is the EnvironmentSpec they run in.
    `besides` is data for JSON that the id depends on too.
    """
    from lake_spec import VERSION
    from lake_spec.parsing.json_codec import to_data

    out_dir.mkdir(parents=True, exist_ok=True)
    zip_packages(out_dir / "lake.zip")
    shutil.copyfile(SPARK_JOBS / "main.py", out_dir / "main.py")
    place = to_data(environment)
    specs = {each.name: to_data(each) for each in domains}
    id = _id(out_dir, {"environment": place, "specs": specs, "besides": besides})
    folder = out_dir / "specs"
    folder.mkdir(exist_ok=True)
    for name, spec in specs.items():
        text = {
            "release": id,
            "version": VERSION,
            "environment": place,
            "domain": spec,
        }
        (folder / f"{name}.json").write_text(json.dumps(text, indent=1), "utf-8")
    return Release(id, out_dir)


def zip_packages(target: Path) -> None:
    """The packages of a step, the same bytes for the same files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in _modules(package):
                name = file.relative_to(package.parent).as_posix()
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())


def _modules(package: Path) -> List[Path]:
    return sorted(f for f in package.rglob("*.py") if "__pycache__" not in f.parts)


def _id(folder: Path, content: Dict) -> str:
    digest = hashlib.sha256()
    for name in ("lake.zip", "main.py"):
        digest.update((folder / name).read_bytes())
    digest.update(json.dumps(content, sort_keys=True).encode())
    return digest.hexdigest()[:16]
