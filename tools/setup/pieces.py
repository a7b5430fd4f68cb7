"""What set-up builds: pieces, each a folder of the checkout, and targets made of pieces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from tools.setup.machine import LINUX, Machine

CLASS_DATA_CODE = (
    "local/lake_local/emulator/class_data.py",
    "emulator/lake_emulator/runtimes.py",
)
"""What makes the archive of Java's classes, and how a step starts."""


@dataclass(frozen=True)
class Piece:
    """A folder that is built as a whole, by its path from the checkout's root."""

    path: str

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return Path(self.path).name

    @property
    def log(self) -> str:
        """Return the name of its log, without an ending."""
        return self.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the files that say what is in it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Environment(Piece):
    """A virtual environment."""

    @property
    def of(self) -> str:
        """Return the name of its lock, without an ending."""
        return self.path.removeprefix(".venv-")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return its lock, and those of what installs it."""
        actionlint = [
            f"requirements/actionlint/{each}"
            for each in ("build.sh", "go.mod", "go.sum")
        ]
        return (
            *(actionlint if self.of == "infra" else []),
            f"requirements/{self.of}.lock",
            "requirements/build.lock",
            "requirements/uv.lock",
        )


@dataclass(frozen=True)
class Jars(Piece):
    """Jars, or a server that Maven brings as one."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return what Maven is asked for, and the sums of what it must bring."""
        folder = f"local/runtimes/{self.name}"
        return (f"{folder}/pom.xml", f"{folder}/jars.sha256")


@dataclass(frozen=True)
class Samples(Piece):
    """Tables that others published."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the packages that have them."""
        return ("requirements/samples.lock", "requirements/samples.sha256")


@dataclass(frozen=True)
class ClassData(Piece):
    """Java's archive of the classes of a step."""

    @property
    def log(self) -> str:
        """Return a name that no folder of jars has."""
        return "class-data"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return what a step runs on, and what starts it."""
        return ("requirements/spark.lock", *SPARK_JARS.inputs, *CLASS_DATA_CODE)


SPARK_JARS = Jars(".local/jars/spark-3.5")
SPARK_ENVIRONMENT = Environment(".venv-spark")
AIRFLOW_ENVIRONMENT = Environment(".venv-airflow")
SPARK_39 = Environment(".venv-spark-3.9")
SPEC_ENVIRONMENT = Environment(".venv-spec")
LOCAL_FILES = Jars(".local/jars/local-files")
DELTA = Jars(".local/jars/delta")
CLASS_DATA = ClassData(".local/class-data/spark-3.5")
SERVERS = tuple(
    Jars(f".local/servers/{each}")
    for each in ("postgresql", "mariadb", "kafka")
    + ("plugins/debezium-postgresql", "plugins/debezium-mariadb")
)


@dataclass(frozen=True)
class Wanted:
    """The checkout and the machine that are set up, and the targets that were asked for."""

    root: Path
    machine: Machine
    targets: Sequence[str]


@dataclass(frozen=True)
class Target:
    """What can be asked for by `--only`.

    `place` and `words` are for --help, of which a line has one of each.
    """

    name: str
    pieces: Callable[[Wanted], Sequence[Piece]]
    place: tuple[str, ...]
    words: tuple[str, ...]


def _always(*pieces: Piece) -> Callable[[Wanted], Sequence[Piece]]:
    return lambda _: pieces


def _spec(wanted: Wanted) -> Sequence[Piece]:
    """Nothing where there is no Python 3.9."""
    built = (wanted.root / SPEC_ENVIRONMENT.path / "bin/python").exists()
    is_possible = built or wanted.machine.find_python_39() is not None
    return [SPEC_ENVIRONMENT] if is_possible else []


def _spark(wanted: Wanted) -> Sequence[Piece]:
    """The emulator makes the archive of classes, and it is of Airflow's environment."""
    has_airflow = (wanted.root / AIRFLOW_ENVIRONMENT.path / "bin/python").exists()
    makes_archive = has_airflow or "airflow" in wanted.targets
    pieces = [SPARK_ENVIRONMENT, SPARK_JARS, LOCAL_FILES]
    return [*pieces, *([CLASS_DATA] if makes_archive else [])]


def _servers(wanted: Wanted) -> Sequence[Piece]:
    return SERVERS if wanted.machine.platform == LINUX else []


TARGETS = (
    Target(
        "airflow",
        _always(AIRFLOW_ENVIRONMENT, Environment(".venv-step")),
        (".venv-airflow", ".venv-step"),
        (
            "Airflow 3.3.1 with MWAA's versions, the tests' tools;",
            "and what a release brings for its steps: boto3",
        ),
    ),
    Target(
        "spark",
        _spark,
        (".venv-spark", ".local/class-data"),
        (
            "Spark 3.5.6, and .local/jars/spark-3.5 (Hudi 1.0.2);",
            "next to airflow: with it Java starts Spark faster",
        ),
    ),
    Target(
        "streamer",
        _always(
            Environment(".venv-streamer"),
            Jars(".local/jars/spark-3.4"),
            Jars(".local/jars/streamer"),
        ),
        (".venv-streamer",),
        ("Spark 3.4.4, and HoodieStreamer 0.14.0 in .local/jars",),
    ),
    Target(
        "airflow-3.0.6",
        _always(Environment(".venv-airflow-3.0.6")),
        (".venv-airflow-3.0.6",),
        ("an older Airflow, for the full tests only",),
    ),
    Target(
        "airflow-3.2.1",
        _always(Environment(".venv-airflow-3.2.1")),
        (".venv-airflow-3.2.1",),
        ("another one, for the nightly tests only",),
    ),
    Target(
        "spec",
        _spec,
        (".venv-spec",),
        ("Python 3.9, if there is one, for the tests of lake_spec",),
    ),
    Target(
        "infra",
        _always(Environment(".venv-infra")),
        (".venv-infra",),
        ("checkov, zizmor, actionlint, for the full tests and deploy",),
    ),
    Target(
        "spark-3.9",
        _always(SPARK_39, SPARK_JARS, LOCAL_FILES),
        (".venv-spark-3.9",),
        ("Spark 3.5.6 on Python 3.9, EMR's default, for the nightly tests",),
    ),
    Target(
        "bench",
        _always(Environment(".venv-bench"), SPARK_JARS, LOCAL_FILES, DELTA),
        (".venv-bench",),
        ("Delta, dbt, DuckDB and plots, for the benchmarks",),
    ),
    Target(
        "browser",
        _always(Environment(".venv-browser")),
        (".venv-browser",),
        ("what takes the pictures of Airflow's pages for docs/",),
    ),
    Target(
        "readers",
        _always(Environment(".venv-readers")),
        (".venv-readers",),
        ("pyiceberg, deltalake, DuckDB: `show`, `sql`, the full tests",),
    ),
    Target(
        "hostile",
        _always(DELTA, Jars(".local/jars/iceberg-aws"), Jars(".local/jars/trino")),
        (".local/jars",),
        ("Delta, AWS for Iceberg, Trino: engines that attack tables in tests",),
    ),
    Target(
        "docs",
        _always(Environment(".venv-docs")),
        (".venv-docs",),
        ("mkdocs, which builds the site of docs/, for the full tests",),
    ),
    Target(
        "samples",
        _always(Samples(".local/samples")),
        (".local/samples",),
        ("tables that others published, read in the nightly tests",),
    ),
    Target(
        "emulator",
        _always(Environment(".venv-emulator")),
        (".venv-emulator",),
        ("the emulator for AWS without Airflow: boto3 and moto",),
    ),
    Target(
        "servers",
        _servers,
        (".local/servers",),
        ("PostgreSQL, MariaDB, Kafka, Debezium: Linux x86_64 only",),
    ),
)
BY_DEFAULT = ("airflow", "spark", "streamer")


def pieces_of(wanted: Wanted) -> list[Piece]:
    """Return the pieces of all wanted targets, each once: targets share some."""
    by_name = {each.name: each for each in TARGETS}
    found = [p for name in wanted.targets for p in by_name[name].pieces(wanted)]
    return list(dict.fromkeys(found))
