"""The locations of the DAGs' files, and the few switches of the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from lake_check.parsing import product_plans
from lake_check.parsing.loader import environment_file
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.layout.release_files import RELEASE
from lake_spec.layout.run_key import LONGEST_AIRFLOW, distinct_part
from lake_spec.model.names import NAME

DAGS = Path(__file__).resolve().parent.parent
UNRELEASED = "unreleased"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RELEASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class SettingError(ValueError):
    """A variable of Airflow's environment or the release file cannot be used.

    Fix: Set the variable as docs/deploy.md says, or deploy the release again.
    """


@dataclass(frozen=True)
class Settings:
    """Settings from the process environment."""

    tables: Path
    clusters: Path
    environments: Path
    release_file: Path
    environment: str
    poll_seconds: int

    def plans(self) -> product_plans.Plans:
        """Read the plans of products; none where the release's are of other specs."""
        file = self.release_file.with_name(product_plans.FILE)
        return product_plans.read_plans(file, self.tables)


MWAA_NAME = "AIRFLOW_ENV_NAME"
"""The variable in which MWAA says the name of its environment."""


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings of this process; what is not set has the default."""
    release_file = Path(environ.get("LAKE_RELEASE_FILE") or DAGS / RELEASE)
    named = _environment(environ, release_file)
    environment = environment_file(named, DAGS / "environments")
    return Settings(
        tables=Path(environ.get("LAKE_TABLES") or DAGS / "tables"),
        clusters=DAGS / "clusters",
        environments=environment.parent,
        release_file=release_file,
        environment=environment.stem,
        poll_seconds=_poll_seconds(environ.get("LAKE_POLL_SECONDS") or "15"),
    )


def _environment(environ: Mapping[str, str], release_file: Path) -> str:
    """Return the environment's name or file: that of the variable, else that of the
    release, else `local`, if this is no MWAA."""
    if named := environ.get("LAKE_ENVIRONMENT"):
        return named
    if named := read_release(release_file).environment:
        return named
    if MWAA_NAME in environ:
        raise SettingError(
            f"LAKE_ENVIRONMENT is not set in the MWAA environment {environ[MWAA_NAME]!r}."
            " Name one of dags/environments in its startup script, and update the"
            " environment."
        )
    return "local"


def airflow_name(environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of this Airflow, for several on one environment's buckets.

    MWAA sets AIRFLOW_ENV_NAME to the name of its environment; LAKE_AIRFLOW, also an
    empty one, goes before it. Without both, as on a laptop, it has no name.
    """
    name = environ.get("LAKE_AIRFLOW", environ.get(MWAA_NAME, ""))
    return distinct_part(name, LONGEST_AIRFLOW)


def _poll_seconds(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 300:
        raise SettingError(
            f"LAKE_POLL_SECONDS: got {text!r}. Write whole seconds from 1 to 300: how"
            " often a waiting task asks EMR."
        )
    return int(text)


@dataclass(frozen=True)
class Release:
    """The release that the DAGs refer to, the SHA-256 of the files of its steps, and the
    environment that it was built for; None where it does not say."""

    id: str
    artifacts: Mapping[str, str] = field(default_factory=dict)
    environment: Optional[str] = None


def read_release(path: Path) -> Release:
    """Return the release that the DAGs refer to, or `unreleased` without a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Release(UNRELEASED)
    except ValueError as error:
        raise SettingError(
            f"{path}: not JSON ({error}). Deploy the release again."
        ) from error
    release = content.get("release") if isinstance(content, dict) else None
    if not isinstance(release, str) or not _RELEASE.fullmatch(release):
        raise SettingError(
            f"{path}: release: got {release!r}. Expected 1 to 64 of the characters"
            ' A-Z a-z 0-9 _ . -, as in {"release": "3f9c2a71"}. Deploy it again.'
        )
    artifacts = content.get("artifacts", {})
    if not isinstance(artifacts, dict) or not all(
        _SHA256.fullmatch(str(each)) for each in artifacts.values()
    ):
        raise SettingError(
            f"{path}: artifacts: got {shown(artifacts)}. Expected the SHA-256 of each "
            "file of the steps, 64 of 0-9 a-f. Deploy the release again."
        )
    environment = content.get("environment")
    if not (environment is None or NAME.fits(str(environment))):
        raise SettingError(
            f"{path}: environment: got {shown(environment)}. Expected the name of a file "
            "of dags/environments. Deploy the release again."
        )
    return Release(release, artifacts, environment)
