"""run_tests_locally.sh with programs that only take notes: what it runs, in which
order, what runs side by side, and what it says when one of them fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#!/usr/bin/env bash
echo "$0 $*" >>notes
case "$0 $*" in $FAILING) exit "$CODE" ;; esac
case "$0 $*" in $HANGING) sleep 60 ;; esac
"""
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NOTHING = {"FAILING": "nothing", "HANGING": "nothing", "CODE": "1"}
PROGRAMS = (
    "setup.sh",
    ".local/uv/bin/uv",
    ".venv-airflow/bin/python",
    ".venv-airflow-3.0.6/bin/python",
    ".venv-airflow-3.2.1/bin/python",
    ".venv-bench/bin/python",
    ".venv-docs/bin/mkdocs",
    ".venv-readers/bin/python",
    ".venv-spark/bin/python",
    ".venv-spark-3.9/bin/python",
    ".venv-spec/bin/python",
)


@pytest.fixture
def start(tmp_path):
    """Start the script in a folder that holds nothing but it and such programs."""
    shutil.copy(ROOT / "run_tests_locally.sh", tmp_path)
    for name in PROGRAMS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROGRAM)
        path.chmod(0o755)

    (tmp_path / ".local/servers").mkdir()
    (tmp_path / "notes").touch()

    def start(*arguments, **settings):
        return subprocess.Popen(
            ["bash", "run_tests_locally.sh", *arguments],
            cwd=tmp_path,
            env={**os.environ, **NOTHING, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heed_signals,
        )

    return start


def heed_signals():
    """Heed those that whoever started these tests, as nohup, lets its children ignore."""
    for each in INTERRUPTS:
        signal.signal(each, signal.SIG_DFL)


@pytest.fixture
def run(tmp_path, start):
    """Run it with arguments: its exit code, its output, the commands that it ran."""

    def run(*arguments, failing="nothing", code=1):
        process = start(*arguments, FAILING=failing, CODE=str(code))
        output, _ = process.communicate(timeout=60)
        commands = (tmp_path / "notes").read_text().splitlines()
        return process.returncode, output, commands

    return run


FIRST = [
    "./setup.sh --quiet --only airflow --only spec",
    ".local/uv/bin/uv pip check --quiet --python .venv-airflow/bin/python",
]
STYLE = [
    ".venv-airflow/bin/python -m tests.less_garbage black --check .",
    ".venv-airflow/bin/python -m tests.changed_flake8",
    ".venv-airflow/bin/python -m mypy",
    ".venv-airflow/bin/python -m mypy -p lake_spark"
    " --python-executable .venv-spark/bin/python --cache-dir .local/mypy-spark",
]
PYTHON_39 = [
    ".venv-spec/bin/python -m compileall -q dags/lake_spec spark_jobs",
    ".venv-spec/bin/python -m pytest tests/unit/lake_spec",
]
SCRIPTS_AND_GUARDS = [
    "tests/unit/test_setup.py",
    "tests/unit/test_run_tests_locally.py",
    "tests/unit/neighbour/test_planted_loosenings.py",
    "tests/unit/lake_infra/test_recovery_page.py",
]
UNITS = [
    ".venv-airflow/bin/python -m pytest tests/unit/lake_airflow tests/unit/lake_plugin"
    " tests/unit/lake_acceptance tests/unit/lake_local/airflow"
    " tests/unit/lake_spark/storage/test_lease_check.py tests/policy/test_dag_policy.py"
    " --ignore tests/unit/lake_airflow/simulated_runs/test_simulator_sees.py",
    ".venv-airflow/bin/python -m pytest tests/unit/lake_emulator tests/unit/lake_local"
    " --ignore tests/unit/lake_local/airflow",
    ".venv-airflow/bin/python -m pytest tests/policy tests/unit/lake_release"
    " --ignore tests/policy/test_dag_policy.py",
    ".venv-airflow/bin/python -m pytest tests/unit"
    " --ignore tests/unit/lake_airflow --ignore tests/unit/lake_plugin"
    " --ignore tests/unit/lake_acceptance --ignore tests/unit/lake_local"
    " --ignore tests/unit/lake_emulator"
    " --ignore tests/unit/lake_spark/storage/test_lease_check.py"
    " --ignore tests/unit/lake_release"
    " --ignore tests/unit/lake_site/test_large_lakes.py"
    + "".join(f" --ignore {each}" for each in SCRIPTS_AND_GUARDS)
    + " --ignore tests/unit/lake_spec",
]
DAGS_ON_OLDER = (
    ".venv-airflow-3.0.6/bin/python -m pytest tests/unit/lake_airflow"
    " tests/unit/lake_spec tests/unit/lake_plugin"
    " tests/unit/lake_site/test_large_lakes.py tests/unit/lake_local/airflow"
    " tests/policy/test_dag_policy.py"
)
OLDER = [
    ".venv-airflow/bin/python -m pytest tests/deploy",
    ".venv-airflow-3.0.6/bin/python -m pytest tests/deploy/test_as_mwaa.py",
]
NIGHTLY_SETUP = (
    "./setup.sh --quiet --only airflow --only spark --only streamer --only servers"
    " --only readers --only hostile --only samples"
)
NIGHTLY_OF_AIRFLOW = (
    ".venv-airflow/bin/python -m pytest -m nightly tests/acceptance tests/e2e"
    " tests/unit/lake_spec tests/unit/lake_emulator tests/unit/lake_airflow"
)
SITE = [
    ".venv-docs/bin/mkdocs build --strict",
    ".venv-airflow/bin/python -m pytest tests/site",
]
READERS = ".venv-readers/bin/python -m pytest tests/readers"
ATTACKS = ".venv-airflow/bin/python -m pytest tests/hostile"
IN_TWO = ".venv-spark/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder"
SPARK = f"{IN_TWO} tests/spark"
SERVERS = ".venv-spark/bin/python -m pytest tests/servers tests/loop"
COLLECTED = [
    ".venv-spark/bin/python -m pytest -qqq --collect-only tests/spark tests/servers tests/loop",
    ".venv-airflow/bin/python -m pytest -qqq --collect-only tests/acceptance tests/e2e",
]
FAST = sorted([*STYLE, *PYTHON_39, *UNITS])


def test_fast_runs_the_linters_and_the_tests_that_need_no_java(run):
    code, output, commands = run("fast")
    assert code == 0
    assert (commands[:2], sorted(commands[2:])) == (FIRST, FAST)
    assert "\n+ .venv-airflow/bin/python -m tests.changed_flake8\n" in output


def test_a_part_runs_one_command_after_the_other_and_is_shown_whole(run):
    _, output, commands = run("fast")
    for part in (STYLE, PYTHON_39):
        assert [line for line in commands if line in part] == part
        shown = "".join(f"\n+ {line.rstrip()}\n" for line in part)
        assert shown in output


@pytest.mark.parametrize("arguments", [[], ["full"]], ids=["by-default", "by-name"])
def test_full_adds_the_older_airflow_spark_and_end_to_end(run, arguments):
    code, _, commands = run(*arguments)
    assert code == 0
    assert commands[0].endswith("--only servers --only readers")
    fast, rest = commands[3 : 3 + len(FAST)], commands[3 + len(FAST) :]
    assert (commands[1:3], sorted(fast)) == (FIRST, FAST)
    beside = [*OLDER, *SITE, READERS, ATTACKS, *COLLECTED]
    assert sorted(rest[: len(beside)]) == sorted(beside)
    assert rest[len(beside) :] == [
        SERVERS,
        SPARK,
        ".venv-airflow/bin/python -m pytest tests/acceptance tests/e2e",
    ]


def test_without_servers_for_this_machine_their_tests_are_left_out(tmp_path, run):
    (tmp_path / ".local/servers").rmdir()
    code, output, commands = run("full")
    assert (code, SERVERS in commands) == (0, False)
    assert "No servers for this machine" in output


def test_without_python_39_its_tests_run_with_the_other_units(tmp_path, run):
    (tmp_path / ".venv-spec/bin/python").unlink()
    code, output, commands = run("fast")
    others = UNITS[-1].replace(" --ignore tests/unit/lake_spec", "")
    assert (code, "No Python 3.9 here" in output) == (0, True)
    assert sorted(commands[2:]) == sorted([*STYLE, *UNITS[:-1], others])


def test_it_stops_at_the_first_failure_and_says_how_to_run_only_that(run):
    code, output, commands = run("full", failing="*flake8*", code=7)
    assert (code, commands[-1] in [*FAST, *FIRST]) == (7, True)
    assert output.endswith(
        "Failed (exit code 7). To run only this again:\n    .venv-airflow/bin/python -m tests.changed_flake8\n"
    )


def test_after_a_failure_its_part_does_not_go_on(run):
    code, _, commands = run("fast", failing="*black*")
    assert (code, STYLE[1] in commands) == (1, False)


def test_the_first_part_to_fail_ends_the_others(run, start):
    # The pipe of their output closes when the last of them has ended.
    process = start("fast", HANGING="*lake_airflow*", FAILING="*flake8*")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert output.endswith("    .venv-airflow/bin/python -m tests.changed_flake8\n")
    assert "lake_plugin" not in output


@pytest.mark.parametrize("how", INTERRUPTS)
def test_an_interrupt_ends_all_parts(tmp_path, start, how):
    process = start("fast", HANGING="*pytest*")
    deadline = time.monotonic() + 30
    while (tmp_path / "notes").read_text().count("pytest") < 5:
        assert time.monotonic() < deadline, "the tests have not begun"
        time.sleep(0.02)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_arguments_reach_every_pytest(run):
    _, _, commands = run("fast", "-k", "late events")
    asked = [line for line in commands if "pytest" in line]
    assert len(asked) == 5
    assert all(line.endswith(" -k late events") for line in asked)


def test_without_pyspark_it_says_that_types_of_lake_spark_are_not_checked(
    run, tmp_path
):
    (tmp_path / ".venv-spark/bin/python").chmod(0o644)
    code, output, commands = run("fast")
    assert code == 0
    assert "No PySpark here: the types of lake_spark are not checked.\n" in output
    assert set(FIRST + FAST) - set(commands) == {STYLE[-1]}


def test_a_folder_without_tests_is_a_failure(run):
    assert run("fast", failing="*.venv-spec*pytest*", code=5)[0] == 5


def test_a_folder_without_a_chosen_test_is_none(run):
    code, _, commands = run("fast", "-k", "x", failing="*.venv-spec*pytest*", code=5)
    assert (code, len(commands)) == (0, len(FIRST) + len(FAST))


def test_an_unknown_speed_is_refused_with_the_choices(run):
    code, output, commands = run("slow")
    assert (code, commands) == (2, [])
    assert (
        "'slow' is no speed; choose fast, full, properties, fuzz, crash, readers, hostile,"
        " neighbour, joins, quality, loop, simulate, soak, deploy, docs, acceptance, bench,"
        " nightly, spark39 or older" in output
    )


@pytest.mark.parametrize(
    "speed, needs, python, program",
    [
        ("properties", "--only spark", "spark", "tests.oracle.properties"),
        ("fuzz", "--only spark", "spark", "tests.fuzz"),
        ("crash", "--only spark --only streamer", "spark", "tests.crash"),
        ("readers", "--only spark --only readers", "spark", "tests.readers"),
        ("loop", "--only spark --only servers", "spark", "tests.loop"),
        ("simulate", "--only airflow", "airflow", "tests.simulator"),
        ("soak", "--only spark", "spark", "tests.soak"),
        ("neighbour", "--only airflow --only spark", "airflow", "tests.neighbour"),
        (
            "bench",
            "--only bench --only streamer --only airflow --only spark",
            "bench",
            "benchmarks.speed",
        ),
    ],
)
def test_programs_of_the_tests_take_their_numbers(run, speed, needs, python, program):
    code, _, commands = run(speed, "--seed", "5")
    assert code == 0
    assert commands == [
        f"./setup.sh --quiet {needs}",
        f".venv-{python}/bin/python -m {program} --seed 5",
    ]


def test_a_deployment_is_checked_with_all_that_it_takes(run):
    code, _, commands = run("deploy")
    assert code == 0
    assert commands == [
        "./setup.sh --quiet --only airflow --only airflow-3.0.6 --only infra --only spec"
        " --only spark",
        ".venv-airflow/bin/python -m tests.deploy",
    ]


def test_the_site_is_built_strictly_and_its_pages_are_checked(run):
    code, _, commands = run("docs")
    assert code == 0
    assert commands == ["./setup.sh --quiet --only airflow --only docs", *SITE]


def test_a_site_that_does_not_build_is_a_failure(run):
    code, _, commands = run("docs", failing="*mkdocs*")
    assert (code, commands[-1]) == (1, SITE[0])


def test_the_tests_of_the_night_are_those_that_the_full_ones_leave_out(run):
    code, _, commands = run("nightly", "-k", "moves")
    assert code == 0
    assert commands == [
        NIGHTLY_SETUP,
        f"{IN_TWO} -m nightly tests/spark -k moves",
        ".venv-spark/bin/python -m pytest -m nightly tests/servers tests/loop -k moves",
        f"{NIGHTLY_OF_AIRFLOW} -k moves",
    ]


def test_each_night_kills_the_publication_and_attacks_tables_too(run):
    code, _, commands = run("nightly")
    assert code == 0
    assert commands == [
        NIGHTLY_SETUP,
        f"{IN_TWO} -m nightly tests/spark",
        ".venv-spark/bin/python -m pytest -m nightly tests/servers tests/loop",
        NIGHTLY_OF_AIRFLOW,
        f".venv-airflow/bin/python -m pytest {' '.join(SCRIPTS_AND_GUARDS)}",
        ".venv-spark/bin/python -m tests.readers --kills 50",
        ".venv-airflow/bin/python -m tests.hostile",
    ]
    for each in ("readers", "hostile"):
        assert run("nightly", failing=f"*tests.{each}*")[0] == 1


def test_the_spark_tests_run_on_python_39_too(run):
    code, _, commands = run("spark39", "-k", "moves")
    assert code == 0
    assert commands == [
        "./setup.sh --quiet --only spark-3.9 --only streamer --only readers",
        SPARK.replace("-spark/", "-spark-3.9/") + " -k moves",
    ]


def test_the_end_to_end_tests_run_on_the_older_airflow_too(tmp_path, run):
    code, _, commands = run("older", "-k", "killed")
    assert code == 0
    assert commands == [
        "./setup.sh --quiet --only airflow --only airflow-3.0.6 --only airflow-3.2.1"
        " --only spark --only streamer",
        DAGS_ON_OLDER + " -k killed",
        DAGS_ON_OLDER.replace("3.0.6", "3.2.1") + " -k killed",
        ".venv-airflow-3.0.6/bin/python -m pytest tests/unit/lake_emulator tests/unit/lake_local"
        " --ignore tests/unit/lake_local/airflow -k killed",
        OLDER[-1].replace("3.0.6", "3.2.1") + " -k killed",
        ".venv-airflow-3.0.6/bin/python -m pytest tests/e2e -k killed",
        ".venv-airflow-3.2.1/bin/python -m pytest tests/e2e -k killed",
    ]
    # What run_locally.sh takes then, also where the links are there already.
    versions = ("3.0.6", "3.2.1")
    for version in versions:
        python = tmp_path / f".venv-airflow-{version}/bin/python"
        python.write_text(
            "#!/usr/bin/env bash\n"
            '[[ "$*" != *e2e* ]] || readlink -f "$LAKE_VENVS"/.venv-*\n'
        )
    _, output, _ = run("older")
    found = [line for line in output.splitlines() if line.startswith("/")]
    names = [
        name
        for version in versions
        for name in (f"airflow-{version}", "spark", "step", "streamer")
    ]
    assert found == [f"{tmp_path.resolve()}/.venv-{name}" for name in names]


def test_a_random_test_that_finds_something_fails(run):
    assert run("crash", "--points", "9", failing="*tests.crash*")[0] == 1
