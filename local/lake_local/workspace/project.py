"""Paths of the project's parts and tools on this machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lake_local.errors import Missing

SET_UP = "Run ./setup.sh, which installs what is missing."


@dataclass(frozen=True)
class Project:
    """The checked-out project and the environments that setup.sh made for it."""

    root: Path
    environments: Path
    jars: Path

    @property
    def dags(self) -> Path:
        """The DAGs folder as it ships."""
        return self.root / "dags"

    @property
    def tables(self) -> Path:
        """The project's own table specs."""
        return self.dags / "tables"

    @property
    def airflow_bin(self) -> Path:
        """The folder of the commands of Airflow's environment."""
        return self.environments / ".venv-airflow" / "bin"

    @property
    def spark_python(self) -> Path:
        """The Python that has the Spark of the lake's jobs."""
        return self.environments / ".venv-spark" / "bin" / "python"

    @property
    def readers_python(self) -> Path:
        """The Python that has the readers of Iceberg and Delta, which need no Java."""
        return self.environments / ".venv-readers" / "bin" / "python"

    @property
    def spark_jars(self) -> Path:
        """Hudi's bundle and S3 support for that Spark."""
        return self.jars / "spark-3.5"


def find() -> Project:
    """Return the project of this code; `LAKE_VENVS`, `LAKE_JARS` are for other tools."""
    root = Path(__file__).resolve().parents[3]
    environments = Path(os.environ.get("LAKE_VENVS") or root)
    jars = Path(os.environ.get("LAKE_JARS") or root / ".local" / "jars")
    return Project(root, environments.absolute(), jars.absolute())


def require_airflow(project: Project) -> None:
    """Raise `Missing` unless Airflow can be started."""
    _require(project.airflow_bin / "airflow", "Airflow")


def require_spark(project: Project) -> None:
    """Raise `Missing` unless Spark with Hudi can be started."""
    _require(project.spark_python, "Spark")
    if not list(project.spark_jars.glob("hudi-spark*-bundle*.jar")):
        raise Missing(
            f"Hudi is not set up: no bundle in {project.spark_jars}. {SET_UP}"
        )
    java()


def require_readers(project: Project) -> None:
    """Raise `Missing` unless DuckDB and the readers of Iceberg and Delta are there."""
    if not project.readers_python.exists():
        raise Missing(
            "The readers of tables are not set up: "
            f"{project.readers_python} is missing. Run ./setup.sh --only readers."
        )


def require_drivers(project: Project) -> None:
    """Raise `Missing` unless there is a Python with the drivers of databases."""
    _require(project.spark_python, "the Python with the drivers of databases")


def java() -> str:
    """Return the program that runs Java. Raises `Missing`."""
    home = os.environ.get("JAVA_HOME")
    if home and os.access(Path(home) / "bin" / "java", os.X_OK):
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    if not found:
        raise Missing(
            "Java is not installed: no `java` in PATH or JAVA_HOME. Install a Java 17"
            " runtime, or set JAVA_HOME to one."
        )
    return found


def _require(tool: Path, name: str) -> None:
    if not tool.exists():
        raise Missing(f"{name} is not set up: {tool} is missing. {SET_UP}")
