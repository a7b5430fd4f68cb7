"""MWAA installs before the switch; a run that creates nothing proves it, or it is taken
back."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest
from lake_release import airflow_files
from lake_release.built import PROJECT
from lake_release.errors import ReleaseError
from lake_spec.layout.dag_names import PROOF

from tests.unit.lake_release.buckets import BUCKET
from tests.unit.lake_release.conftest import write_dags


def change_packages(lake):
    (lake.project / "requirements" / "airflow.txt").write_text("newer\n")
    write_dags(lake.project, "two", "moma.py")


def test_an_airflow_that_is_not_there_is_told_how_to_make(lake, mwaa, airflow):
    mwaa.there = None
    lake.deploy(airflow=airflow)
    versions = {
        name: lake.s3.head_object(Bucket=BUCKET, Key=name)["VersionId"]
        for name in ("requirements.txt", "startup.sh")
    }
    assert (
        "lake-prod does not exist yet. Create it with these: "
        f"RequirementsVersion={versions['requirements.txt']} "
        f"StartupVersion={versions['startup.sh']}"
    ) in lake.said


def test_the_first_release_is_installed_and_tried(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    release = lake.deploy(airflow=airflow)
    (update,) = mwaa.updates
    assert update["RequirementsS3Path"] == "requirements.txt"
    assert update["StartupScriptS3ObjectVersion"]
    assert update["WorkerReplacementStrategy"] == "GRACEFUL"  # running tasks end first
    (run,) = mwaa.runs
    assert run["dag_run_id"].startswith(f"release-{release}-")
    assert f"{PROOF} proved release {release}" in lake.said


def test_a_release_with_the_same_packages_updates_nothing(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    write_dags(lake.project, "two", "moma.py")
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    assert len(mwaa.updates) == 1


def test_packages_that_cannot_be_installed_leave_the_release_before(
    lake, mwaa, airflow
):
    mwaa.shows = [lake.built().id]
    first = lake.deploy(airflow=airflow)
    change_packages(lake)
    mwaa.update_fails = True
    with pytest.raises(ReleaseError, match="its update FAILED: no such package"):
        lake.deploy(airflow=airflow)
    assert lake.shown() == {"moma.py": f"one {first}"}


def test_airflow_is_waited_for_until_it_shows_the_release(lake, mwaa, airflow):
    mwaa.shows = ["older", "older", lake.built().id]
    lake.deploy(airflow=airflow)
    assert len(mwaa.runs) == 3
    assert "waiting for Airflow to show the release" in lake.said


def test_a_release_whose_run_fails_is_taken_back_with_its_packages(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    first = lake.deploy(airflow=airflow)
    change_packages(lake)
    mwaa.shows, mwaa.run_state = [lake.built().id], "failed"
    with pytest.raises(ReleaseError, match=f"failed.\n{first} is the current release"):
        lake.deploy(airflow=airflow)
    assert lake.shown() == {"moma.py": f"one {first}"}
    old, _, again = (each["RequirementsS3ObjectVersion"] for each in mwaa.updates)
    assert again == old
    assert list(lake.deployment().status())[0] == f"prod: {first}"
    with pytest.raises(ReleaseError, match="no release before"):
        lake.deployment().rollback()


def test_a_rollback_takes_the_packages_of_that_release(lake, mwaa, airflow):
    first = mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    change_packages(lake)
    mwaa.shows = [lake.built().id]
    lake.deploy(airflow=airflow)
    mwaa.shows = first
    lake.deployment(airflow=airflow).rollback()
    one, two, three = (each["RequirementsS3ObjectVersion"] for each in mwaa.updates)
    assert (one == three, one == two) == (True, False)


def test_an_airflow_that_never_shows_it_is_told(lake, mwaa, airflow):
    mwaa.shows = ["older"]
    with pytest.raises(ReleaseError, match="does not show release .* ran as older"):
        lake.deploy(airflow=airflow)


@pytest.mark.parametrize(
    "version, options, told",
    [
        ("3.0.6", {}, None),
        ("3.0.6", {"min_file_process_interval": "300"}, (300, 50, 600)),
        ("3.0.6", {"min_file_process_interval": "50"}, (50, 50, 100)),
        ("3.0.6", {"stale_dag_threshold": "20"}, (30, 20, 60)),
        (
            "3.0.6",
            {"min_file_process_interval": "300", "stale_dag_threshold": "600"},
            None,
        ),
        ("3.3.1", {"min_file_process_interval": "300"}, None),
    ],
)
def test_settings_by_which_dags_vanish_after_a_callback_are_named(
    lake, mwaa, airflow, version, options, told
):
    mwaa.there["AirflowVersion"] = version
    mwaa.there["AirflowConfigurationOptions"] = {
        f"dag_processor.{name}": value for name, value in options.items()
    }
    lines = list(lake.deployment(airflow=airflow).plan(lake.built()))
    found = [line for line in lines if "stand still" in line]
    assert len(found) == (told is not None)
    if told:
        every, limit, better = told
        assert f"every {every} s (dag_processor.min_file_process_interval)" in found[0]
        assert f"for {limit} s as gone (dag_processor.stale_dag_threshold)" in found[0]
        assert f"Set dag_processor.stale_dag_threshold to {better} in" in found[0]


def test_where_the_dag_of_proofs_is_paused_nothing_is_tried(lake, mwaa, airflow):
    mwaa.paused = True
    lake.deploy(airflow=airflow)
    assert mwaa.runs == []
    assert (
        f"{PROOF} is paused, so nothing was tried. Unpause it: it has no schedule, and its "
        "runs create nothing"
    ) in lake.said


def test_domains_at_work_are_in_no_proofs_way(lake, mwaa, airflow):
    mwaa.busy["moma_incremental"] = "running"
    release = lake.deploy(airflow=airflow)
    assert f"{PROOF} proved release {release}" in lake.said


def test_a_look_that_airflow_does_not_answer_is_repeated(lake, mwaa, airflow):
    mwaa.shows, mwaa.errors = [lake.built().id], 2
    release = lake.deploy(airflow=airflow)
    assert f"{PROOF} proved release {release}" in lake.said


def test_an_airflow_that_answers_no_more_takes_the_release_back(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    first = lake.deploy(airflow=airflow)
    write_dags(lake.project, "two", "moma.py")
    mwaa.shows, mwaa.errors = [lake.built().id], 99
    with pytest.raises(
        ReleaseError, match=f"bad gateway. Look at .*\n{first} is the current"
    ):
        lake.deploy(airflow=airflow)
    assert lake.shown() == {"moma.py": f"one {first}"}


def test_an_update_whose_reply_was_lost_is_waited_for(lake, mwaa, airflow):
    mwaa.fails = lambda method, path: (
        (0, "ReplyLost") if method == "UpdateEnvironment" else None
    )
    release = lake.deploy(airflow=airflow)
    assert len(mwaa.updates) == 1
    assert f"{PROOF} proved release {release}" in lake.said


def test_an_update_that_is_refused_leaves_the_release_before(lake, mwaa, airflow):
    first = lake.deploy(airflow=airflow)
    change_packages(lake)
    mwaa.fails = lambda method, path: (
        (403, "AccessDeniedException") if method == "UpdateEnvironment" else None
    )
    with pytest.raises(ReleaseError, match="UpdateEnvironment of lake-prod: .*Access"):
        lake.deploy(airflow=airflow)
    assert lake.shown() == {"moma.py": f"one {first}"}


def add_plugin(lake):
    (lake.project / "plugins" / "lake_pages.py").write_text("PAGES = 1\n")
    write_dags(lake.project, "with a plugin", "moma.py")


def remove_plugin(lake):
    (lake.project / "plugins" / "lake_pages.py").unlink()
    write_dags(lake.project, "without", "moma.py")


def installed(lake, mwaa):
    """The files of the plugins.zip that the environment installs."""
    there = mwaa.there
    version = {
        "Key": there["PluginsS3Path"],
        "VersionId": there["PluginsS3ObjectVersion"],
    }
    body = lake.s3.get_object(Bucket=BUCKET, **version)["Body"].read()
    return ZipFile(BytesIO(body)).namelist()


def deploy_shown(lake, mwaa, airflow):
    mwaa.shows = [lake.built().id]
    return lake.deploy(airflow=airflow)


def test_plugins_that_are_gone_are_taken_away_from_mwaa(lake, mwaa, airflow):
    add_plugin(lake)
    deploy_shown(lake, mwaa, airflow)
    assert installed(lake, mwaa) == ["lake_pages.py"]
    remove_plugin(lake)
    deploy_shown(lake, mwaa, airflow)
    one, two = (each["PluginsS3ObjectVersion"] for each in mwaa.updates)
    assert one != two
    assert installed(lake, mwaa) == []
    write_dags(lake.project, "without, again", "moma.py")
    deploy_shown(lake, mwaa, airflow)
    assert len(mwaa.updates) == 2


def test_a_rollback_takes_plugins_away_and_brings_them_back(lake, mwaa, airflow):
    first = deploy_shown(lake, mwaa, airflow)
    add_plugin(lake)
    second = deploy_shown(lake, mwaa, airflow)
    for release, plugins in ((first, []), (second, ["lake_pages.py"]), (first, [])):
        mwaa.shows = [release]
        lake.deployment(airflow=airflow).rollback()
        assert installed(lake, mwaa) == plugins


def test_a_release_with_plugins_that_fails_is_taken_back_without(lake, mwaa, airflow):
    first = deploy_shown(lake, mwaa, airflow)
    add_plugin(lake)
    mwaa.run_state = "failed"
    with pytest.raises(ReleaseError, match=f"{first} is the current release again"):
        deploy_shown(lake, mwaa, airflow)
    assert installed(lake, mwaa) == []


def test_an_environment_that_never_had_plugins_gets_none(lake, mwaa, airflow):
    lake.deploy(airflow=airflow)
    assert "PluginsS3Path" not in mwaa.there


def test_the_plugin_and_its_pages_are_packed_and_the_web_server_knows_the_runs(
    tmp_path,
):
    made = tmp_path / "airflow"
    airflow_files.write(
        made, project=PROJECT, environment="prod", runs="s3://x/runs", wheels=None
    )
    names = set(ZipFile(made / "plugins.zip").namelist())
    wanted = {
        *("lake_plugin.py", ".airflowignore", "lake_pages/app.py"),
        *("lake_pages/pages/tables.html", "lake_pages/pages/bring.js"),
        "lake_pages/contract/run_key.py",
    }
    assert wanted <= names
    assert not [name for name in names if "__pycache__" in name or "README" in name]
    startup = (made / "startup.sh").read_text(encoding="utf-8")
    assert startup.splitlines()[-1] == "export LAKE_RUNS=s3://x/runs"
