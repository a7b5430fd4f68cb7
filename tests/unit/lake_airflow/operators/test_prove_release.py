"""The run that proves a release makes its DAGs and their requests, and creates nothing."""

import pytest

from lake_airflow import build_proof
from lake_airflow.compat import AirflowFailException
from lake_airflow.operators.prove_release import ProveRelease
from lake_airflow.settings import DAGS
from lake_spec.layout.dag_names import PROOF, PROOF_TASK

SOUND = "from lake_airflow import build_domain\nDAGS = build_domain('moma')\n"
WRONG_REQUEST = """from lake_airflow import build_domain
globals().update(build_domain("moma"))
moma_incremental.get_task("create_cluster").release = "x" * 20_000
"""


def prove(folder):
    return ProveRelease(task_id=PROOF_TASK, dags=folder, release="r1")


def test_the_release_of_this_tree_is_proven_without_a_cluster(emr, runner):
    runner.execute(prove(DAGS))
    assert runner.xcoms[PROOF_TASK, "release"] == "r1"
    assert not emr.clusters


@pytest.mark.parametrize(
    "text, fault",
    [
        (
            "import lake_aiflow\n",
            "shop.py: ModuleNotFoundError: No module named 'lake_",
        ),
        ("build_domain('shop')", "shop.py: NameError: name 'build_domain'"),
        (SOUND.replace("'moma'", "'shop'"), "shop.py: .*'shop'"),
        (WRONG_REQUEST, "moma_incremental: step .*EMR allows 10240"),
    ],
    ids=["no module", "no name", "no domain", "a request that EMR refuses"],
)
def test_what_cannot_work_fails_by_name_and_says_which_release(
    tmp_path, emr, runner, text, fault
):
    (tmp_path / "shop.py").write_text(text)
    (tmp_path / "sound.py").write_text(SOUND)
    with pytest.raises(
        AirflowFailException, match=f"^The release r1 .*\n{fault}"
    ) as no:
        runner.execute(prove(tmp_path))
    assert "sound.py" not in str(no.value)
    assert runner.xcoms[PROOF_TASK, "release"] == "r1"
    assert not emr.clusters


def test_its_dag_waits_for_nothing_and_nobody():
    (dag,) = build_proof().values()
    assert (dag.dag_id, dag.schedule) == (PROOF, None)
    assert (dag.is_paused_upon_creation, dag.max_active_runs) == (False, 16)
    assert [task.task_id for task in dag.tasks] == [PROOF_TASK]
