"""What must hold for every DAG of `dags/`, and what each rule says when it does not.

Every rule is also run on a DAG file that breaks it, so that no rule can fall
asleep.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest
from airflow.models import DagBag

ROOT = Path(__file__).resolve().parents[2]
FILE_NAME = re.compile(r"[a-z][a-z0-9_]*\.py")
SHORTEST_DESCRIPTION = 16
SHORTEST_OWNER = 6
MOST_RETRIES = 3
ENDS_CLUSTERS = "TerminateCluster"
MAKES_CLUSTERS = ("EmrCreateJobFlowOperator", "CreateCluster")


def fill(folder: Path) -> DagBag:
    return DagBag(str(folder))


def file_names(bag: DagBag) -> Iterator[str]:
    """DAG files have names that are Python modules in lower case."""
    for path in sorted(Path(bag.dag_folder).glob("*.py")):
        if not FILE_NAME.fullmatch(path.name):
            yield f"{path.name}: name DAG files in lower case, as in sales.py"


def import_errors(bag: DagBag) -> Iterator[str]:
    """Every DAG file can be read."""
    for path, error in bag.import_errors.items():
        yield f"{Path(path).name}: cannot be imported: {error}"


def descriptions(bag: DagBag) -> Iterator[str]:
    """Every DAG says what it does."""
    for dag_id, dag in bag.dags.items():
        if len(dag.description or "") < SHORTEST_DESCRIPTION:
            yield f"{dag_id}: describe it in more than 15 characters"


def owners(bag: DagBag) -> Iterator[str]:
    """Every task has a team that answers for it."""
    for task_id, task in tasks(bag):
        if task.owner == "airflow" or len(task.owner) < SHORTEST_OWNER:
            yield f"{task_id}: owner {task.owner!r}: name a team, over 5 characters"


def tags(bag: DagBag) -> Iterator[str]:
    """Every DAG can be found as one of the lake, by its domain and its kind."""
    for dag_id, dag in bag.dags.items():
        missing = {"lake", *domain_and_kind(dag)} - set(dag.tags)
        if missing:
            yield f"{dag_id}: lacks the tags {', '.join(sorted(missing))}"


def emails(bag: DagBag) -> Iterator[str]:
    """Nobody is told by email; domains name an SNS topic."""
    for task_id, task in tasks(bag):
        if getattr(task, "email", None):
            yield f"{task_id}: sends email: set the domain's notifications.topic instead"


def retries(bag: DagBag) -> Iterator[str]:
    """No task is tried again and again."""
    for task_id, task in tasks(bag):
        if task.retries > MOST_RETRIES:
            yield f"{task_id}: {task.retries} retries: at most {MOST_RETRIES}"


def dag_ids(bag: DagBag) -> Iterator[str]:
    """A DAG's id is the name of its file, or begins with it: its domain."""
    for dag_id, dag in bag.dags.items():
        prefix = f"{Path(dag.fileloc).stem}_"
        if not f"{dag_id}_".startswith(prefix):
            yield f"{dag_id}: begin its id with {prefix!r}, after its file"


def ended_clusters(bag: DagBag) -> Iterator[str]:
    """Who makes a cluster is a setup, and its teardown after all work ends it by the
    rule all_done: by that of teardowns it is left out where the setup failed."""
    for task_id, task in tasks(bag):
        if task.task_type in MAKES_CLUSTERS and not is_torn_down(task):
            yield f"{task_id}: its cluster is not always ended: give it a teardown"


def hidden_failures(bag: DagBag) -> Iterator[str]:
    """No run is green because its last task runs after any failure."""
    for dag_id, dag in bag.dags.items():
        for leaf in dag.leaves:
            if is_verdict(leaf):
                continue
            if leaf.is_teardown or leaf.trigger_rule != "all_success":
                yield f"{dag_id}.{leaf.task_id}: as a last task it hides failures"


def no_pyspark(bag: DagBag) -> Iterator[str]:
    """Reading DAG files imports no Spark."""
    if "pyspark" in sys.modules:
        yield f"{Path(bag.dag_folder).name}: imports pyspark: leave it to spark_jobs"


RULES = (
    file_names,
    import_errors,
    descriptions,
    owners,
    tags,
    emails,
    retries,
    dag_ids,
    ended_clusters,
    hidden_failures,
    no_pyspark,
)


def tasks(bag: DagBag):
    for dag_id, dag in bag.dags.items():
        for task in dag.tasks:
            yield f"{dag_id}.{task.task_id}", task


def domain_and_kind(dag) -> tuple[str, str]:
    domain = Path(dag.fileloc).stem
    if dag.dag_id == domain:
        domain = domain.rpartition("_")[0]
    return domain, dag.dag_id.removeprefix(f"{domain}_")


def is_verdict(task) -> bool:
    """Whether it judges the run, and the run's state goes by it."""
    judges = task.is_teardown and task.task_type == "RunResult"
    return judges and task.on_failure_fail_dagrun


def is_torn_down(create) -> bool:
    """Whether a teardown comes after all work that follows it, whatever it did."""
    after = create.get_flat_relatives(upstream=False)
    ends = [t for t in after if t.is_teardown and t.task_type == ENDS_CLUSTERS]
    if not (ends and create.is_setup and ends[0].trigger_rule == "all_done"):
        return False
    before = {task.task_id for task in ends[0].get_flat_relatives(upstream=True)}
    works = {task.task_id for task in after if task.task_type.startswith("Submit")}
    return create.task_id in ends[0].upstream_task_ids and works <= before


@pytest.fixture(scope="module")
def bag():
    return fill(ROOT / "dags")


def test_there_are_dags_to_judge(bag):
    assert bag.dags


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_dag_keeps_the_rule(bag, rule):
    assert list(rule(bag)) == []


SOUND = """
from datetime import datetime
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

with DAG(
    "sales_load",
    description="Load what the shop sold",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    default_args={"owner": "sales-data", "retries": 3},
    tags=["lake", "sales", "load"],
) as dag:
    load = EmptyOperator(task_id="load")
"""

CREATE = """
from lake_airflow.operators.terminate_cluster import TerminateCluster
from lake_airflow.operators.create_cluster import CreateCluster
from lake_airflow.operators.submit_stage import SubmitStage
from tests.unit.lake_airflow.specs import CLUSTER, ENVIRONMENT, dag_plan

plan = dag_plan("maintenance")
create = CreateCluster(task_id="create_cluster", plan=plan, cluster=CLUSTER,
    environment=ENVIRONMENT, release="r", poll_seconds=1)
work = SubmitStage(task_id="maintenance", plan=plan, stage=plan.stages[0],
    environment=ENVIRONMENT, start_minutes=40, poll_seconds=1)
create >> work
"""
END = """
end = TerminateCluster(task_id="end", plan=plan, environment=ENVIRONMENT,
    poll_seconds=1)
"""


def more(code: str) -> str:
    """The sound file with more code inside its DAG."""
    return SOUND + indent(dedent(code), "    ")


def plant(folder: Path, text: str, name: str = "sales.py") -> DagBag:
    (folder / name).write_text(text)
    return fill(folder)


def test_a_sound_dag_breaks_no_rule(tmp_path):
    found = plant(tmp_path, SOUND)
    assert [fault for rule in RULES for fault in rule(found)] == []


def test_a_cluster_that_is_always_ended_breaks_no_rule(tmp_path):
    end = END + "work >> end.as_teardown(setups=create.as_setup())\n"
    found = plant(tmp_path, more(f"{CREATE}{end}end.trigger_rule = 'all_done'"))
    assert [*import_errors(found), *ended_clusters(found)] == []


@pytest.mark.parametrize(
    "rule, old, new, fault",
    [
        (import_errors, "import DAG", "import DAGG", "sales.py: cannot be imported"),
        (descriptions, "Load what the shop sold", "Loads it.", "sales_load: desc"),
        (owners, '"sales-data"', '"airflow"', "sales_load.load: owner 'airflow'"),
        (owners, '"sales-data"', '"sales"', "sales_load.load: owner 'sales'"),
        (tags, '"lake", ', "", "sales_load: lacks the tags lake"),
        (tags, '"load"]', "]", "sales_load: lacks the tags load"),
        (emails, '"retries": 3', '"email": "a@b"', "sales_load.load: sends email"),
        (retries, '"retries": 3', '"retries": 4', "sales_load.load: 4 retries"),
        (
            dag_ids,
            '"sales_load"',
            '"shop_load"',
            "shop_load: begin its id with 'sales_",
        ),
        (
            hidden_failures,
            'task_id="load"',
            'task_id="load", trigger_rule="all_done"',
            "sales_load.load: as a last task it hides failures",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_planted_violation_is_found(tmp_path, rule, old, new, fault):
    assert old in SOUND
    (found,) = rule(plant(tmp_path, SOUND.replace(old, new)))
    assert found.startswith(fault)


@pytest.mark.parametrize("counts, hides", [("True", False), ("False", True)])
def test_only_a_verdict_that_counts_may_be_the_last(tmp_path, counts, hides):
    code = f"""
from lake_airflow.operators.finish_run import RunResult
done = RunResult(task_id="done", plan=None, environment=None)
done.as_teardown(on_failure_fail_dagrun={counts})
load >> done
"""
    assert bool(list(hidden_failures(plant(tmp_path, more(code))))) == hides


@pytest.mark.parametrize("name", ["Sales.py", "sales-data.py", "2sales.py"])
def test_a_file_name_that_is_no_module_in_lower_case_is_found(tmp_path, name):
    (found,) = file_names(plant(tmp_path, SOUND, name))
    assert found.startswith(f"{name}: name DAG files in lower case")


@pytest.mark.parametrize(
    "code",
    [
        "create.as_setup()",
        END + "work >> end",
        END + "create.as_setup() >> end",
        END + "end.as_teardown(setups=create.as_setup())",
        END + "work >> end.as_teardown(setups=create.as_setup())",
    ],
    ids=["no-end", "plain-task", "no-teardown", "beside-the-work", "its-own-rule"],
)
def test_a_cluster_that_may_stay_is_found(tmp_path, code):
    bag = plant(tmp_path, more(CREATE + code))
    assert list(import_errors(bag)) == []
    (found,) = ended_clusters(bag)
    assert found.startswith(
        "sales_load.create_cluster: its cluster is not always ended"
    )


def test_an_import_of_pyspark_is_found(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    (tmp_path / "pyspark.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = no_pyspark(plant(tmp_path, "import pyspark\n" + SOUND))
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    assert found.endswith("imports pyspark: leave it to spark_jobs")
