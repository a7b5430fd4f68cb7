"""Every choice of tests, and the commands that each runs.

A choice is a function that yields stages; what it asks about the checkout, as whether
there is a Python 3.9, it asks after the set-up before it has run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from tools.checks import coverage_floors
from tools.checks.commands import Checkout, Command, SideBySide, Stage, Step, set_up
from tools.checks.spark_shards import FOLDER as SPARK_TESTS
from tools.checks.spark_shards import spark_shards

AIRFLOW = ".venv-airflow/bin/python"
AIRFLOW_306 = ".venv-airflow-3.0.6/bin/python"
AIRFLOW_321 = ".venv-airflow-3.2.1/bin/python"
SPARK = ".venv-spark/bin/python"
SPARK_39 = ".venv-spark-3.9/bin/python"
SPEC = ".venv-spec/bin/python"
READERS = ".venv-readers/bin/python"

SCRIPTS_AND_GUARDS = (
    "tests/unit/tools/test_scripts.py",
    "tests/unit/neighbour/test_planted_loosenings.py",
    "tests/unit/lake_infra/test_recovery_page.py",
)
"""Most of the time of all other units, for what changes seldom: the night runs them."""
EMULATOR = "tests/unit/lake_emulator"
RELEASES = "tests/unit/lake_local/emulator/test_releases.py"
DEPLOYMENTS = ("tests/unit/lake_release", "tests/unit/lake_acceptance", RELEASES)
AS_MWAA, PLUGIN = "tests/deploy/test_as_mwaa.py", "tests/deploy/test_loading.py"
SIMULATED_RUNS = "tests/unit/lake_airflow/simulated_runs"
SEES, LARGE = (
    f"{SIMULATED_RUNS}/test_simulator_sees.py",
    "tests/unit/lake_site/test_large_lakes.py",
)
BY_NIGHT = (*SCRIPTS_AND_GUARDS, SEES, LARGE)
"""What `nightly` and `older` play alone, the last two on older Airflows."""


# --- Fast --------------------------------------------------------------------


def fast(at: Checkout) -> Iterator[Stage]:
    """What needs no Java, but for what `seldom` plays."""
    yield set_up("airflow", "spec")
    yield Command((".local/uv/bin/uv", "pip", "check", "--quiet", "--python", AIRFLOW))
    yield SideBySide(
        # Cut so that Airflow is imported once.
        {
            "dags": [_dags(at)],
            "policy": [_policy(at)],
            "other_units": [_other_units(at)],
            "style": _style(at),
            "python_39": _python_39(at),
            "local": [_local(at)],
        }
    )


def _dags(at: Checkout) -> Command:
    return at.tests(
        AIRFLOW,
        *("tests/unit/lake_airflow", "tests/unit/lake_plugin"),
        "tests/unit/lake_local/airflow",
        "tests/unit/lake_spark/storage/test_lease_check.py",
        "tests/policy/test_dag_policy.py",
        *_without(SIMULATED_RUNS),
    )


def _policy(at: Checkout) -> Command:
    return at.tests(
        AIRFLOW, "tests/policy", *_without("tests/policy/test_dag_policy.py")
    )


def _other_units(at: Checkout) -> Command:
    """Of lake_spec too, where `_python_39` does not test it."""
    elsewhere = [
        *("tests/unit/lake_airflow", "tests/unit/lake_plugin", "tests/unit/lake_local"),
        "tests/unit/lake_spark/storage/test_lease_check.py",
        *(EMULATOR, *DEPLOYMENTS),
        *(LARGE, *SCRIPTS_AND_GUARDS),
        *(["tests/unit/lake_spec"] if at.has(SPEC) else []),
    ]
    return at.tests(AIRFLOW, "tests/unit", *_without(*elsewhere))


def _style(at: Checkout) -> list[Step]:
    """Black's searches for garbage are half of its time."""
    types = (AIRFLOW, "-m", "mypy")
    return [
        Command((AIRFLOW, "-m", "tests.less_garbage", "black", "--check", ".")),
        Command((AIRFLOW, "-m", "tests.changed_flake8")),
        Command(types),
        (
            Command(  # PySpark and its types are in that environment
                (*types, "-p", "lake_spark", "--python-executable", SPARK)
                + ("--cache-dir", ".local/mypy-spark")
            )
            if at.has(SPARK)
            else "No PySpark here: the types of lake_spark are not checked."
        ),
    ]


def _python_39(at: Checkout) -> list[Step]:
    if not at.has(SPEC):
        return [
            "No Python 3.9 here: lake_spec is tested on Airflow's, for 3.9 its syntax alone."
        ]
    compiled = ("-m", "compileall", "-q", "dags/lake_spec", "spark_jobs")
    return [Command((SPEC, *compiled)), at.tests(SPEC, "tests/unit/lake_spec")]


def _local(at: Checkout) -> Command:
    without = _without("tests/unit/lake_local/airflow", RELEASES)
    return at.tests(AIRFLOW, "tests/unit/lake_local", *without)


def _without(*paths: str) -> list[str]:
    return [word for each in paths for word in ("--ignore", each)]


# --- Full, whose shares are the jobs of CI ------------------------------------


@dataclass(frozen=True)
class Share:
    """A part of the full tests. CI runs it as one job; that of Spark as `shards` jobs."""

    name: str
    stages: Callable[[Checkout], Iterator[Stage]]
    shards: int = 1


def releases_and_pages(at: Checkout) -> Iterator[Stage]:
    """What a release and the site bring, the readers, and whether all tests are found."""
    yield SideBySide(
        {
            "collected": _collected(),
            "deployment": _deployment(at),
            "site": _site(at),
            "show_readers": [at.tests(READERS, "tests/readers"), _products()],
            # Without those of Spark and Trino, which `hostile` plays.
            "few_attacks": [at.tests(AIRFLOW, "tests/hostile")],
            **_seldom(at),
        }
    )


def _seldom(at: Checkout) -> dict[str, list[Step]]:
    """A third of all units, for parts that few changes reach. Who changes one runs its own
    folder, a push all of them."""
    return {
        "emulator": [at.tests(AIRFLOW, EMULATOR)],
        "deployments": [at.tests(AIRFLOW, *DEPLOYMENTS)],
        "simulated_runs": [at.tests(AIRFLOW, SIMULATED_RUNS, *_without(SEES))],
    }


def _collected() -> list[Step]:
    """Else a test that cannot be imported is found half an hour later."""
    asked = ("-m", "pytest", "-qqq", "--collect-only")
    return [
        Command((SPARK, *asked, "tests/spark", "tests/servers", "tests/loop")),
        Command((AIRFLOW, *asked, "tests/acceptance", "tests/e2e")),
    ]


def _products() -> Command:
    """The tests of the example's products, as a team's CI runs its own."""
    asked = ("test-product", "--tables", "data/synthea/tables")
    return Command(("./run_locally.sh", *asked))


def _deployment(at: Checkout) -> list[Step]:
    """On the older Airflow only what it parses."""
    return [at.tests(AIRFLOW, "tests/deploy"), at.tests(AIRFLOW_306, AS_MWAA)]


def _site(at: Checkout) -> list[Step]:
    """The site of docs/, as a reader gets it."""
    build = Command((".venv-docs/bin/mkdocs", "build", "--strict"))
    return [build, at.tests(AIRFLOW, "tests/site")]


def servers(at: Checkout) -> Iterator[Stage]:
    """Databases and Kafka; set-up has none for another machine than Linux x86_64."""
    if (at.root / ".local/servers").is_dir():
        yield at.tests(SPARK, "tests/servers", "tests/loop")
    else:
        yield (
            "No servers for this machine: what needs PostgreSQL, MariaDB or Kafka is not"
            " tested."
        )


def spark(at: Checkout) -> Iterator[Stage]:
    """The Spark tests of the day."""
    yield _spark_tests(at, SPARK)


def _spark_tests(at: Checkout, python: str, *asked: str) -> Command:
    """One Spark session uses little more than one core, so there are two sessions; each
    takes the next file when it is done with one."""
    sessions = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    return at.tests(python, *sessions, *(asked or (SPARK_TESTS,)))


def end_to_end(at: Checkout) -> Iterator[Stage]:
    """Whole runs through the emulator."""
    yield at.tests(AIRFLOW, "tests/acceptance", "tests/e2e")


FULL = (
    Share("fast", fast),
    Share("releases-and-pages", releases_and_pages),
    Share("servers", servers),
    Share("spark", spark, shards=5),
    Share("end-to-end", end_to_end),
)
"""The full tests, in the order in which one machine runs them."""

FULL_TARGETS = (
    *("airflow", "spec", "spark", "streamer", "airflow-3.0.6", "infra", "docs"),
    *("servers", "readers"),
)
"""What the full tests need. Each shard has all of it too: what is not there, some tests
pass over, and a shard must not."""


def full(at: Checkout) -> Iterator[Stage]:
    """All shares."""
    yield set_up(*FULL_TARGETS)
    for share in FULL:
        yield from share.stages(at)


SHARDS = {
    f"{share.name}-{number}" if share.shards > 1 else share.name: (share, number)
    for share in FULL
    for number in range(1, share.shards + 1)
}
"""The jobs of CI by name: each a share, or one of the equal parts of the Spark tests."""


def shard(at: Checkout, name: str) -> Iterator[Stage]:
    """One shard of the full tests, with the set-up of all of them.

    Raises:
        KeyError: no shard has this name.
    """
    share, number = SHARDS[name]
    yield set_up(*FULL_TARGETS)
    if share.shards == 1:
        yield from share.stages(at)
    else:
        files = spark_shards(at.root, share.shards)[number - 1]
        yield _spark_tests(at, SPARK, *files)


# --- Programs of the tests, as long as somebody likes --------------------------


def properties(at: Checkout) -> Iterator[Stage]:
    """Random histories against an independent oracle."""
    yield set_up("spark")
    yield at.program(SPARK, "tests.oracle.properties")


def fuzz(at: Checkout) -> Iterator[Stage]:
    """Random landing files against a strict reader."""
    yield set_up("spark")
    yield at.program(SPARK, "tests.fuzz")


def crash(at: Checkout) -> Iterator[Stage]:
    """Every stage killed at random points."""
    yield set_up("spark", "streamer")
    yield at.program(SPARK, "tests.crash")


def loop(at: Checkout) -> Iterator[Stage]:
    """Random work on real databases."""
    yield set_up("spark", "servers")
    yield at.program(SPARK, "tests.loop")


def readers(at: Checkout) -> Iterator[Stage]:
    """Published tables, read by six readers."""
    yield set_up("spark", "readers")
    yield at.program(SPARK, "tests.readers")


def hostile(at: Checkout) -> Iterator[Stage]:
    """Statements of other engines."""
    yield set_up("airflow", "spark", "readers", "hostile")
    yield at.program(AIRFLOW, "tests.hostile")


def neighbour(at: Checkout) -> Iterator[Stage]:
    """Things of others beside ours."""
    yield set_up("airflow", "spark")
    yield at.program(AIRFLOW, "tests.neighbour")


def joins(at: Checkout) -> Iterator[Stage]:
    """Random histories and facts, joined."""
    yield set_up("spark")
    yield at.program(SPARK, "tests.joins")


def quality(at: Checkout) -> Iterator[Stage]:
    """Planted faults of data."""
    yield set_up("spark")
    yield at.program(SPARK, "tests.quality")


def simulate(at: Checkout) -> Iterator[Stage]:
    """Runs with faults in a simulated Airflow and EMR."""
    yield set_up("airflow")
    yield at.program(AIRFLOW, "tests.simulator")


def soak(at: Checkout) -> Iterator[Stage]:
    """Many runs in one application."""
    yield set_up("spark")
    yield at.program(SPARK, "tests.soak")


def coverage(at: Checkout) -> Iterator[Stage]:
    """What the unit tests leave unplayed, package by package, against its floors."""
    yield set_up("airflow")
    yield from _covered(
        at, AIRFLOW, "units", "tests/unit", *_without(*SCRIPTS_AND_GUARDS)
    )


def coverage_spark(at: Checkout) -> Iterator[Stage]:
    """The same of scd2, by its Spark tests; what a worker of Spark runs is not seen."""
    yield set_up("spark", "streamer")
    yield from _covered(at, SPARK, "spark", f"{SPARK_TESTS}/scd2")


def _covered(at: Checkout, python: str, run: str, *tests: str) -> Iterator[Stage]:
    """Tests in one process, then the share that they played, as a report and compared."""
    measured = (python, "-m", "coverage")
    where = (f"--data-file=.local/coverage/{run}",)
    report = f".local/coverage/{run}.json"
    source = f"--source={','.join(coverage_floors.packages(at.root, run))}"
    yield Command(
        (*measured, "run", "--branch", source, *where, "-m", "pytest", *tests)
    )
    yield Command((*measured, "json", "--quiet", *where, "-o", report))
    yield at.program(python, "tools.checks.coverage_floors", run, report)


def deploy(at: Checkout) -> Iterator[Stage]:
    """Templates, workflows, roles and releases."""
    yield set_up("airflow", "airflow-3.0.6", "infra", "spec", "spark")
    yield at.program(AIRFLOW, "tests.deploy")


def docs(at: Checkout) -> Iterator[Stage]:
    """The site of docs/."""
    yield set_up("airflow", "docs")
    yield from _site(at)


def acceptance(at: Checkout) -> Iterator[Stage]:
    """The acceptance run, on the emulator."""
    yield set_up("airflow", "spark", "streamer")
    yield at.program(AIRFLOW, "tests.acceptance")


def bench(at: Checkout) -> Iterator[Stage]:
    """HoodieStreamer is a peer, DAGs are parsed, and small runs are steps."""
    yield set_up("bench", "streamer", "airflow", "spark")
    yield at.program(".venv-bench/bin/python", "benchmarks.speed")


# --- By night ------------------------------------------------------------------


def nightly(at: Checkout) -> Iterator[Stage]:
    """What the full tests leave out; where tests were chosen, those alone."""
    yield set_up(
        *("airflow", "spark", "streamer", "servers", "readers", "hostile", "samples")
    )
    marked = ("-m", "nightly")
    yield _spark_tests(at, SPARK, *marked, SPARK_TESTS)
    yield at.tests(SPARK, *marked, "tests/servers", "tests/loop")
    units = ("tests/unit", *_without(*SCRIPTS_AND_GUARDS))
    yield at.tests(AIRFLOW, *marked, "tests/acceptance", "tests/e2e", *units)
    if not at.chosen:
        yield at.tests(AIRFLOW, *SCRIPTS_AND_GUARDS)
        # The clock is the seed.
        yield at.program(SPARK, "tests.readers", "--kills", "50")
        yield at.program(AIRFLOW, "tests.hostile")


def spark39(at: Checkout) -> Iterator[Stage]:
    """The Spark tests on EMR's default Python."""
    yield set_up("spark-3.9", "streamer", "readers")
    yield _spark_tests(at, SPARK_39)


def older(at: Checkout) -> Iterator[Stage]:
    """What runs on the older Airflows of MWAA."""
    yield set_up("airflow", "airflow-3.0.6", "airflow-3.2.1", "spark", "streamer")
    yield _dags_on(at, AIRFLOW_306)
    yield _dags_on(at, AIRFLOW_321)
    local = (EMULATOR, "tests/unit/lake_local")
    yield at.tests(AIRFLOW_306, *local, *_without("tests/unit/lake_local/airflow"))
    yield at.tests(AIRFLOW_306, PLUGIN)
    yield at.tests(AIRFLOW_321, AS_MWAA, PLUGIN)
    yield _end_to_end_on(at, "3.0.6")
    yield _end_to_end_on(at, "3.2.1")


def _dags_on(at: Checkout, python: str) -> Command:
    """The DAGs on an older Airflow, and how specs are read on its Python."""
    return at.tests(
        python,
        *("tests/unit/lake_airflow", "tests/unit/lake_spec", "tests/unit/lake_check"),
        "tests/unit/lake_plugin",
        *(LARGE, "tests/unit/lake_local/airflow"),
        "tests/policy/test_dag_policy.py",
    )


def _end_to_end_on(at: Checkout, version: str) -> Command:
    """The commands of run_locally.sh take Airflow's environment from LAKE_VENVS: a folder
    of links, which is made here."""
    venvs = at.root / f".local/airflow-{version}"
    venvs.mkdir(parents=True, exist_ok=True)
    others = ("step", "spark", "streamer")
    for name, of in {
        "airflow": f"airflow-{version}",
        **dict(zip(others, others)),
    }.items():
        link = venvs / f".venv-{name}"
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../.venv-{of}")
    python = f".venv-airflow-{version}/bin/python"
    return at.tests(python, "tests/e2e", LAKE_VENVS=str(venvs))
