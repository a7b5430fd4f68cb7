"""Which commands each choice of tests runs, in which order, and what runs side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import speeds
from tools.checks.commands import Checkout, Command, SideBySide
from tools.checks.spark_shards import spark_files

ROOT = Path(__file__).resolve().parents[4]
PROGRAMS = (".venv-spark/bin/python", ".venv-spec/bin/python")


class Plan:
    """What a choice runs: the text of each command; of parts, of each by its name."""

    def __init__(self, stages) -> None:
        self.commands, self.words, self.parts, self.alone = [], [], {}, []
        for stage in stages:
            if isinstance(stage, SideBySide):
                for name, steps in stage.parts.items():
                    self.parts[name] = [self._note(step) for step in steps]
            else:
                self.alone.append(self._note(stage))

    def _note(self, step) -> str:
        (self.commands if isinstance(step, Command) else self.words).append(str(step))
        return str(step)


@pytest.fixture
def checkout(tmp_path):
    """A folder that holds nothing but such programs."""
    for name in PROGRAMS:
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.touch(0o755)
    (tmp_path / ".local/servers").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def plan(checkout):
    def plan(choice, *chosen):
        return Plan(choice(Checkout(checkout, chosen)))

    return plan


FIRST = [
    "./setup.sh --quiet --only airflow --only spec",
    ".local/uv/bin/uv pip check --quiet --python .venv-airflow/bin/python",
]
AIRFLOW = ".venv-airflow/bin/python -m pytest"
SCRIPTS_AND_GUARDS = [
    "tests/unit/tools/test_scripts.py",
    "tests/unit/neighbour/test_planted_loosenings.py",
    "tests/unit/lake_infra/test_recovery_page.py",
]
OTHER_UNITS = (
    f"{AIRFLOW} tests/unit"
    " --ignore tests/unit/lake_airflow --ignore tests/unit/lake_plugin"
    " --ignore tests/unit/lake_acceptance --ignore tests/unit/lake_local"
    " --ignore tests/unit/lake_emulator"
    " --ignore tests/unit/lake_spark/storage/test_lease_check.py"
    " --ignore tests/unit/lake_release"
    " --ignore tests/unit/lake_site/test_large_lakes.py"
    + "".join(f" --ignore {each}" for each in SCRIPTS_AND_GUARDS)
)
FAST = {
    "dags": [
        f"{AIRFLOW} tests/unit/lake_airflow tests/unit/lake_plugin"
        " tests/unit/lake_acceptance tests/unit/lake_local/airflow"
        " tests/unit/lake_spark/storage/test_lease_check.py tests/policy/test_dag_policy.py"
        " --ignore tests/unit/lake_airflow/simulated_runs/test_simulator_sees.py"
    ],
    "policy_and_releases": [
        f"{AIRFLOW} tests/policy tests/unit/lake_release"
        " --ignore tests/policy/test_dag_policy.py"
    ],
    "other_units": [f"{OTHER_UNITS} --ignore tests/unit/lake_spec"],
    "style": [
        ".venv-airflow/bin/python -m tests.less_garbage black --check .",
        ".venv-airflow/bin/python -m tests.changed_flake8",
        ".venv-airflow/bin/python -m mypy",
        ".venv-airflow/bin/python -m mypy -p lake_spark"
        " --python-executable .venv-spark/bin/python --cache-dir .local/mypy-spark",
    ],
    "python_39": [
        ".venv-spec/bin/python -m compileall -q dags/lake_spec spark_jobs",
        ".venv-spec/bin/python -m pytest tests/unit/lake_spec",
    ],
    "emulator": [
        f"{AIRFLOW} tests/unit/lake_emulator tests/unit/lake_local"
        " --ignore tests/unit/lake_local/airflow"
    ],
}
BESIDE = {
    "collected": [
        ".venv-spark/bin/python -m pytest -qqq --collect-only tests/spark tests/servers"
        " tests/loop",
        f"{AIRFLOW} -qqq --collect-only tests/acceptance tests/e2e",
    ],
    "deployment": [
        f"{AIRFLOW} tests/deploy",
        ".venv-airflow-3.0.6/bin/python -m pytest tests/deploy/test_as_mwaa.py",
    ],
    "site": [".venv-docs/bin/mkdocs build --strict", f"{AIRFLOW} tests/site"],
    "show_readers": [
        ".venv-readers/bin/python -m pytest tests/readers",
        "./run_locally.sh test-product --tables data/synthea/tables",
    ],
    "few_attacks": [f"{AIRFLOW} tests/hostile"],
}
FULL_SETUP = (
    "./setup.sh --quiet --only airflow --only spec --only spark --only streamer"
    " --only airflow-3.0.6 --only infra --only docs --only servers --only readers"
)
SESSIONS = "-n 2 --dist loadfile --no-loadscope-reorder"
IN_TWO = f".venv-spark/bin/python -m pytest {SESSIONS}"
SERVERS = ".venv-spark/bin/python -m pytest tests/servers tests/loop"
END_TO_END = f"{AIRFLOW} tests/acceptance tests/e2e"


def test_fast_runs_the_linters_and_the_tests_that_need_no_java(plan):
    found = plan(speeds.fast)
    assert (found.alone, found.parts) == (FIRST, FAST)


def test_full_adds_the_older_airflow_spark_and_end_to_end(plan):
    found = plan(speeds.full)
    assert found.parts == {**FAST, **BESIDE}
    assert found.alone == [
        *(FULL_SETUP, *FIRST, SERVERS, f"{IN_TWO} tests/spark"),
        END_TO_END,
    ]


@pytest.fixture
def together(checkout):
    """What all shards but some run after their set-up: their commands, and the files of
    Spark tests; and the same of the full tests."""
    (checkout / "tests").mkdir()
    (checkout / "tests/spark").symlink_to(ROOT / "tests/spark")
    at = Checkout(checkout)

    def together(*without):
        commands, files = [], []
        for name in speeds.SHARDS.keys() - set(without):
            setup, *found = Plan(speeds.shard(at, name)).commands
            assert setup == FULL_SETUP
            if name.startswith("spark-"):
                before, sessions, named = found.pop().partition(SESSIONS)
                assert f"{before}{sessions}" == IN_TWO
                files += named.split()
            commands += found
        return sorted(commands), sorted(files)

    full = set(Plan(speeds.full(at)).commands) - {FULL_SETUP, f"{IN_TWO} tests/spark"}
    together.full = (sorted(full), spark_files(ROOT))
    return together


def test_the_shards_together_are_the_full_tests(together):
    assert together() == together.full


@pytest.mark.parametrize("name", speeds.SHARDS)
def test_without_one_of_them_they_are_not(together, name):
    assert together(name) != together.full


def test_without_servers_for_this_machine_their_tests_are_left_out(checkout, plan):
    (checkout / ".local/servers").rmdir()
    found = plan(speeds.full)
    assert SERVERS not in found.commands
    assert "No servers for this machine" in found.words[0]


def test_without_python_39_its_tests_run_with_the_other_units(checkout, plan):
    (checkout / ".venv-spec/bin/python").unlink()
    found = plan(speeds.fast)
    assert found.parts["other_units"] == [OTHER_UNITS]
    assert "No Python 3.9 here" in found.parts["python_39"][0]


def test_without_pyspark_it_says_that_types_of_lake_spark_are_not_checked(
    checkout, plan
):
    (checkout / ".venv-spark/bin/python").chmod(0o644)
    found = plan(speeds.fast)
    assert found.words == ["No PySpark here: the types of lake_spark are not checked."]
    assert found.parts["style"][:-1] == FAST["style"][:-1]


def test_arguments_reach_every_pytest_and_may_choose_no_test_of_one(checkout):
    stages = list(speeds.fast(Checkout(checkout, ("-k", "late events"))))
    steps = [each for part in stages[-1].parts.values() for each in part]
    asked = [each for each in steps if "pytest" in each.argv]
    assert len(asked) == 5
    assert {each.argv[-2:] for each in asked} == {("-k", "late events")}
    assert {each.fine for each in asked} == {(5,)}
    assert str(asked[0]).endswith(" -k 'late events'")
    assert {each.fine for each in steps if each not in asked} == {()}


def test_a_folder_without_tests_is_a_failure(checkout):
    *_, beside = speeds.fast(Checkout(checkout))
    assert {step.fine for part in beside.parts.values() for step in part} == {()}


@pytest.mark.parametrize(
    "speed, needs, python, program",
    [
        (speeds.properties, "--only spark", "spark", "tests.oracle.properties"),
        (speeds.fuzz, "--only spark", "spark", "tests.fuzz"),
        (speeds.crash, "--only spark --only streamer", "spark", "tests.crash"),
        (speeds.readers, "--only spark --only readers", "spark", "tests.readers"),
        (speeds.loop, "--only spark --only servers", "spark", "tests.loop"),
        (speeds.joins, "--only spark", "spark", "tests.joins"),
        (speeds.quality, "--only spark", "spark", "tests.quality"),
        (speeds.simulate, "--only airflow", "airflow", "tests.simulator"),
        (speeds.soak, "--only spark", "spark", "tests.soak"),
        (speeds.neighbour, "--only airflow --only spark", "airflow", "tests.neighbour"),
        (
            speeds.hostile,
            "--only airflow --only spark --only readers --only hostile",
            "airflow",
            "tests.hostile",
        ),
        (
            speeds.acceptance,
            "--only airflow --only spark --only streamer",
            "airflow",
            "tests.acceptance",
        ),
        (
            speeds.bench,
            "--only bench --only streamer --only airflow --only spark",
            "bench",
            "benchmarks.speed",
        ),
        (
            speeds.deploy,
            "--only airflow --only airflow-3.0.6 --only infra --only spec --only spark",
            "airflow",
            "tests.deploy",
        ),
    ],
)
def test_programs_of_the_tests_take_their_numbers(plan, speed, needs, python, program):
    assert plan(speed, "--seed", "5").alone == [
        f"./setup.sh --quiet {needs}",
        "PYTHONPATH=dags:spark_jobs:emulator:local:infra:."
        f" .venv-{python}/bin/python -m {program} --seed 5",
    ]


def test_the_site_is_built_strictly_and_its_pages_are_checked(plan):
    setup = "./setup.sh --quiet --only airflow --only docs"
    assert plan(speeds.docs).alone == [setup, *BESIDE["site"]]


NIGHTLY = [
    "./setup.sh --quiet --only airflow --only spark --only streamer --only servers"
    " --only readers --only hostile --only samples",
    f"{IN_TWO} -m nightly tests/spark",
    ".venv-spark/bin/python -m pytest -m nightly tests/servers tests/loop",
    f"{AIRFLOW} -m nightly tests/acceptance tests/e2e tests/unit"
    + "".join(f" --ignore {each}" for each in SCRIPTS_AND_GUARDS),
]


def test_the_tests_of_the_night_are_those_that_the_full_ones_leave_out(plan):
    setup, *tests = NIGHTLY
    found = plan(speeds.nightly, "-k", "moves").alone
    assert found == [setup, *(f"{each} -k moves" for each in tests)]


def test_each_night_kills_the_publication_and_attacks_tables_too(plan):
    path = "PYTHONPATH=dags:spark_jobs:emulator:local:infra:."
    assert plan(speeds.nightly).alone == [
        *NIGHTLY,
        f"{AIRFLOW} {' '.join(SCRIPTS_AND_GUARDS)}",
        f"{path} .venv-spark/bin/python -m tests.readers --kills 50",
        f"{path} .venv-airflow/bin/python -m tests.hostile",
    ]


def test_the_spark_tests_run_on_python_39_too(plan):
    assert plan(speeds.spark39, "-k", "moves").alone == [
        "./setup.sh --quiet --only spark-3.9 --only streamer --only readers",
        f"{IN_TWO.replace('-spark/', '-spark-3.9/')} tests/spark -k moves",
    ]


def test_the_end_to_end_tests_run_on_the_older_airflow_too(checkout, plan):
    def dags_on(version):
        return (
            f".venv-airflow-{version}/bin/python -m pytest tests/unit/lake_airflow"
            " tests/unit/lake_spec tests/unit/lake_check tests/unit/lake_plugin"
            " tests/unit/lake_site/test_large_lakes.py tests/unit/lake_local/airflow"
            " tests/policy/test_dag_policy.py -k killed"
        )

    def end_to_end_on(version):
        return (
            f"LAKE_VENVS={checkout}/.local/airflow-{version}"
            f" .venv-airflow-{version}/bin/python -m pytest tests/e2e -k killed"
        )

    for _ in "again", "where the links are there already":
        assert plan(speeds.older, "-k", "killed").alone == [
            "./setup.sh --quiet --only airflow --only airflow-3.0.6 --only airflow-3.2.1"
            " --only spark --only streamer",
            dags_on("3.0.6"),
            dags_on("3.2.1"),
            ".venv-airflow-3.0.6/bin/python -m pytest tests/unit/lake_emulator"
            " tests/unit/lake_local"
            " --ignore tests/unit/lake_local/airflow -k killed",
            ".venv-airflow-3.2.1/bin/python -m pytest tests/deploy/test_as_mwaa.py -k killed",
            end_to_end_on("3.0.6"),
            end_to_end_on("3.2.1"),
        ]
    for version in ("3.0.6", "3.2.1"):  # what run_locally.sh takes then
        links = (checkout / f".local/airflow-{version}").iterdir()
        assert {each.name: str(each.resolve()) for each in links} == {
            f".venv-{name}": f"{checkout.resolve()}/.venv-{of}"
            for name, of in (
                *(("airflow", f"airflow-{version}"), ("spark", "spark")),
                *(("step", "step"), ("streamer", "streamer")),
            )
        }


def test_what_the_choices_name_is_there():
    named = [
        word
        for choice in (speeds.full, speeds.nightly)
        for command in Plan(choice(Checkout(ROOT))).commands
        for word in command.split()
        if word.startswith("tests/")
    ]
    assert named and [each for each in named if not (ROOT / each).exists()] == []
