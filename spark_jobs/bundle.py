"""A release: the Spark code as a zip, its main program, and every domain's spec.

The release id is a hash of the content, so the same tree gives the same id and
a release, once uploaded, never changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence

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


def build(domains: Sequence, environment, out_dir: Path) -> Release:
    """Write lake.zip, main.py and specs/<domain>.json into `out_dir`.

    `domains` are DomainSpecs, `environment` is the EnvironmentSpec they run in.
    """
    from lake_spec.encode import to_data

    out_dir.mkdir(parents=True, exist_ok=True)
    zip_packages(out_dir / "lake.zip")
    shutil.copyfile(SPARK_JOBS / "main.py", out_dir / "main.py")
    place = to_data(environment)
    specs = {each.name: to_data(each) for each in domains}
    id = _id(out_dir, {"environment": place, "specs": specs})
    folder = out_dir / "specs"
    folder.mkdir(exist_ok=True)
    for name, spec in specs.items():
        text = {"release": id, "environment": place, "domain": spec}
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


def _id(folder: Path, specs: Dict) -> str:
    digest = hashlib.sha256()
    for name in ("lake.zip", "main.py"):
        digest.update((folder / name).read_bytes())
    digest.update(json.dumps(specs, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def main(argv: Sequence[str]) -> int:
    """Build a release of this tree and tell dags/ to refer to it."""
    parser = argparse.ArgumentParser(prog="bundle.py", description=__doc__)
    parser.add_argument("--environment", required=True, help="a file of environments/")
    parser.add_argument(
        "--output", required=True, type=Path, help="gets releases/<id>/"
    )
    parser.add_argument("--dags", type=Path, default=DAGS, help="default: dags/")
    asked = parser.parse_args(argv)
    sys.path.insert(0, str(DAGS))
    from lake_spec import compiled
    from lake_spec.load import load_environment, load_lake

    tables = asked.dags / "tables"
    lake = load_lake(tables, clusters=asked.dags / "clusters")
    environment = load_environment(asked.environment, asked.dags / "environments")
    parts = asked.output / "parts"
    release = build(list(lake.domains.values()), environment, parts)
    final = asked.output / "releases" / release.id
    shutil.rmtree(final, ignore_errors=True)
    final.parent.mkdir(parents=True, exist_ok=True)
    parts.rename(final)
    for name in lake.domains:
        (tables / name / compiled.FILE).write_text(
            compiled.compile_domain(tables, name)
        )
    (asked.dags / "release.json").write_text(
        json.dumps({"release": release.id}), "utf-8"
    )
    print(f"release {release.id} in {final}, {len(lake.domains)} domain(s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
