"""A release: the Spark code as a zip, its main program, and every domain's spec.

The release id is a hash of the content, so the same tree gives the same id and
a release, once uploaded, never changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence, Tuple

if TYPE_CHECKING:
    from lake_spec.model import DomainSpec, EnvironmentSpec

SPARK_JOBS = Path(__file__).resolve().parent
DAGS = SPARK_JOBS.parent / "dags"

PACKAGES = (SPARK_JOBS / "lake_spark", DAGS / "lake_spec")
"""What a step imports."""

SERVICES = ("glue", "s3", "secretsmanager", "ssm", "sts")
"""The services of AWS that steps call, whose models go with boto3; others are left out."""

_OF_THE_INSTALLER = (
    "RECORD",
    "INSTALLER",
    "REQUESTED",
    "direct_url.json",
    "uv_cache.json",
)

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every zip entry: a zip of the same files is the same bytes."""


@dataclass(frozen=True)
class Release:
    """A built release and the folder that holds its files."""

    id: str
    folder: Path

    @property
    def sha256(self) -> Dict[str, str]:
        """The SHA-256 of every file, by its path in the folder."""
        files = (each for each in self.folder.rglob("*") if each.is_file())
        return {
            each.relative_to(self.folder)
            .as_posix(): hashlib.sha256(each.read_bytes())
            .hexdigest()
            for each in sorted(files)
        }


def build(
    domains: Sequence["DomainSpec"],
    environment: "EnvironmentSpec",
    out_dir: Path,
    *,
    besides: Any = None,
) -> Release:
    """Write lake.zip, boto3.zip, main.py and specs/<domain>.json into `out_dir`.

    `environment` is the one that they run in, and `domains` are as they are in it.
    `besides` is data for JSON that the id depends on too. Raises FileNotFoundError
    where setup.sh has not installed what goes into boto3.zip.
    """
    from lake_spec import VERSION
    from lake_spec.model.json_codec import to_data

    out_dir.mkdir(parents=True, exist_ok=True)
    zip_packages(out_dir / "lake.zip")
    zip_installed(out_dir / "boto3.zip")
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
    files = [
        (package.parent, each) for package in PACKAGES for each in _modules(package)
    ]
    _zip(target, ((each.relative_to(top).as_posix(), each) for top, each in files))


def zip_installed(target: Path) -> None:
    """The packages of requirements/step.lock, as setup.sh installed them."""
    root = Path(os.environ.get("LAKE_VENVS") or SPARK_JOBS.parent) / ".venv-step"
    sites = list(root.glob("lib/python3*/site-packages"))
    if not sites:
        raise FileNotFoundError(
            f"{root}: the packages of the steps are missing. Run ./setup.sh --only airflow."
        )
    found = [
        (name, Path(each.locate()))
        for package in distributions(path=[str(sites[0])])
        for each in package.files or ()
        for name in [each.as_posix()]
        if _is_shipped(name)
    ]
    _zip(target, sorted(found))


def _is_shipped(name: str) -> bool:
    """Code, data and licences; no models of other services, nothing of the installer."""
    top, *rest = name.split("/")
    if top == ".." or top.endswith(".data") or name.endswith(".pyc"):
        return False
    if top.endswith(".dist-info"):
        return rest[-1] not in _OF_THE_INSTALLER
    is_model = rest[:1] == ["data"] and len(rest) > 2
    return not is_model or rest[1] in SERVICES


def _zip(target: Path, files: Iterable[Tuple[str, Path]]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def _modules(package: Path) -> List[Path]:
    return sorted(f for f in package.rglob("*.py") if "__pycache__" not in f.parts)


def _id(folder: Path, content: Dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in ("lake.zip", "boto3.zip", "main.py"):
        digest.update((folder / name).read_bytes())
    digest.update(json.dumps(content, sort_keys=True).encode())
    return digest.hexdigest()[:16]
