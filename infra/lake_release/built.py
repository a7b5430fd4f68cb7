"""A release as a folder: what goes to S3, to Airflow's dags folder and to MWAA.

<output>/<id>/artifacts  lake.zip, boto3.zip, main.py, specs: what steps read, under the id
<output>/<id>/dags       the dags folder as Airflow is to have it
<output>/<id>/airflow    requirements.txt, startup.sh and plugins.zip, which MWAA installs
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from lake_check.parsing import compiled_domains, product_plans
from lake_check.parsing.loader import load_environment, load_lake
from lake_desk.products.plans import with_plans
from lake_release import airflow_files
from lake_release.checksums import digest
from lake_release.errors import ReleaseError
from lake_spec.layout.release_files import RELEASE, release_text
from lake_spec.model import DomainSpec, EnvironmentSpec

PROJECT = Path(__file__).resolve().parents[2]
PARTS = ("artifacts", "dags", "airflow")
MANIFEST = "manifest.json"
_MADE = (
    *("__pycache__", "*.pyc", RELEASE),
    *(compiled_domains.FILE, product_plans.FILE),
)

Manifest = Dict[str, Dict[str, str]]
"""SHA-256 of every file, by part and path."""


@dataclass(frozen=True)
class Built:
    """A release in a folder of its own."""

    id: str
    folder: Path
    environment: EnvironmentSpec

    def files(self, part: str) -> Dict[str, Path]:
        """Return the files of a part, by their paths in it."""
        return dict(_files(self.folder / part))

    def manifest(self) -> Manifest:
        """Return the release's manifest, so that two releases can be compared."""
        return {part: hashes(self.folder / part) for part in PARTS}

    def manifest_text(self) -> bytes:
        """Return the manifest as it is uploaded, whose SHA-256 is the release's."""
        return json.dumps(self.manifest(), indent=1).encode()

    def specs(self) -> Dict[str, Any]:
        """Return the specs that its steps read, by domain."""
        files = sorted((self.folder / "artifacts" / "specs").glob("*.json"))
        return {file.stem: json.loads(file.read_text("utf-8")) for file in files}


def build(
    environment: str,
    output: Path,
    *,
    project: Path = PROJECT,
    wheels: Optional[Path] = None,
) -> Built:
    """Build the release of this tree for an environment below `output`.

    A release for an Airflow that is shared has nothing that MWAA installs, and no
    wheels. Raises SpecErrors for specs that cannot be used, ReleaseError for wheels that
    are not there. The same tree gives the same bytes and the same id.
    """
    # First: mistakes are reported with the files' own names.
    place = load_environment(environment, project / "dags" / "environments")
    domains = _domains(project, place)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=output) as made:
        folder = Path(made) / "release"
        _copy_dags(project / "dags", folder / "dags")
        plans = product_plans.plans_text(domains, folder / "dags" / "tables")
        (folder / "dags" / product_plans.FILE).write_text(plans, encoding="utf-8")
        if place.airflow is None:
            airflow_files.write(
                folder / "airflow",
                project=project,
                environment=environment,
                runs=place.runs,
                wheels=wheels,
            )
        besides = {part: hashes(folder / part) for part in ("dags", "airflow")}
        id = build_artifacts(domains, place, folder / "artifacts", besides=besides)
        release = release_text(id, hashes(folder / "artifacts"), environment)
        (folder / "dags" / RELEASE).write_text(release, encoding="utf-8")
        _write_sizes(folder / "dags")
        final = output / id
        shutil.rmtree(final, ignore_errors=True)
        folder.rename(final)
    return Built(id, final, place)


def _domains(project: Path, place: EnvironmentSpec) -> List[DomainSpec]:
    dags = project / "dags"
    if not dags.is_dir():
        raise ReleaseError(
            f"{dags} does not exist: build from a checkout of the project."
        )
    tables = dags / "tables"
    lake = load_lake(tables, clusters=dags / "clusters", environment=place)
    return with_plans(list(lake.domains.values()), tables)


def _copy_dags(dags: Path, to: Path) -> None:
    shutil.copytree(dags, to, ignore=shutil.ignore_patterns(*_MADE))
    for folder in sorted(each for each in (to / "tables").iterdir() if each.is_dir()):
        text = compiled_domains.compile_domain(to / "tables", folder.name)
        (folder / compiled_domains.FILE).write_text(text, encoding="utf-8")


def build_artifacts(
    domains: List[DomainSpec], place: EnvironmentSpec, to: Path, *, besides: Any = None
) -> str:
    """Write what steps read into a folder; return the id of the release.

    `besides` is data for JSON that the id depends on too. Raises ReleaseError where
    setup.sh has not installed what goes into boto3.zip.
    """
    sys.path.insert(0, str(PROJECT / "spark_jobs"))
    import bundle  # It knows what steps run.

    try:
        return bundle.build(domains, place, to, besides=besides).id
    except FileNotFoundError as error:
        raise ReleaseError(str(error)) from None


def _write_sizes(dags: Path) -> None:
    """Write the size of every file of the dags folder, by which Airflow sees that all
    have arrived."""
    sizes = {name: file.stat().st_size for name, file in _files(dags)}
    (dags / MANIFEST).write_text(json.dumps(sizes), encoding="utf-8")


def hashes(folder: Path) -> Dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its path there."""
    return {name: digest(file.read_bytes()) for name, file in _files(folder)}


def _files(folder: Path) -> Iterator[Tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), file
