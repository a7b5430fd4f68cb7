"""Steps carry references and names; what EMR would not take is refused."""

from dataclasses import replace

import pytest

from lake_airflow.emr.steps import LONGEST_STEP, StepError, spark_step, streamer_steps
from lake_airflow.planning.plan import Stage, StageKind
from lake_spec.layout.release_files import sha256_argument
from lake_spec.model import Avro, Engine
from lake_spec.platform.jars import HUDI
from tests.unit.lake_airflow.specs import (
    ENVIRONMENT,
    dag_plan,
    domain,
    product,
    run,
    snapshot,
    table,
)

PLAN = dag_plan("incremental")
STREAMER = Stage(
    "streamer", ("clicks", "views"), StageKind.STREAMER, "prepare_full_load"
)


def step_of(name, plan=PLAN, environment=ENVIRONMENT, **changes):
    (stage,) = [each for each in plan.stages if each.name == name]
    return spark_step(plan, stage, run=run(plan, **changes), environment=environment)


def test_a_step_is_one_spark_submit_for_all_tables():
    assert step_of("incremental", token=0) == {
        "Name": "incremental manual-1",
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {
            "Jar": "command-runner.jar",
            "Args": [
                "spark-submit",
                "--deploy-mode",
                "client",
                "--py-files",
                "s3://lake/artifacts/releases/3f9c2a71/lake.zip"
                ",s3://lake/artifacts/releases/3f9c2a71/boto3.zip",
                "s3://lake/artifacts/releases/3f9c2a71/main.py",
                "--release",
                "s3://lake/artifacts/releases/3f9c2a71",
                "--region",
                "eu-central-1",
                "--domain",
                "sales",
                "--lease-token",
                "0000000000",
                "--stage",
                "incremental",
                "--run",
                "sales_incremental/manual-1",
            ],
        },
    }


def test_a_step_of_a_run_is_given_the_token_of_its_lease():
    argv = step_of("incremental", token=1795599017)["HadoopJarStep"]["Args"]
    assert argv[argv.index("--lease-token") + 1] == "1795599017"
    # What was pinned by a release without tokens has steps of that release.
    argv = step_of("incremental", token=None)["HadoopJarStep"]["Args"]
    assert "--lease-token" not in argv


def test_a_step_is_told_what_its_files_must_be():
    plain = step_of("incremental")["HadoopJarStep"]["Args"]
    artifacts = {name: name[0] * 64 for name in ("boto3.zip", "lake.zip", "main.py")}
    artifacts.update({"specs/sales.json": "c" * 64, "specs/shop.json": "d" * 64})
    told = f"lake.zip={'l' * 64},boto3.zip={'b' * 64},specs/sales.json={'c' * 64}"
    assert sha256_argument(artifacts, "sales") == told
    argv = step_of("incremental", sha256=told)["HadoopJarStep"]["Args"]
    assert argv[10:12] == ["--sha256", told]
    # Not those of a run that was pinned by a release without it.
    assert [*argv[:10], *argv[12:]] == plain and sha256_argument({}, "sales") == ""


def test_a_step_is_given_the_jars_of_its_environment():
    jars = ("s3://lake/artifacts/a.jar", "s3://lake/artifacts/b.jar")
    plain = step_of("incremental")["HadoopJarStep"]["Args"]
    argv = step_of("incremental", environment=replace(ENVIRONMENT, jars=jars))
    argv = argv["HadoopJarStep"]["Args"]
    # The argument takes the place of what every cluster has.
    given = ",".join((HUDI, *jars))
    assert argv == [*plain[:3], "--jars", given, *plain[3:]]


def test_chosen_tables_a_window_and_a_dry_run_are_arguments():
    window = "2026-01-01T00:00:00Z..2026-01-02T00:00:00Z"
    step = step_of("scd2", tables=("customers",), window=window, dry_run=True)
    assert step["HadoopJarStep"]["Args"][-5:] == [
        "--tables",
        "customers",
        "--window",
        window,
        "--dry-run",
    ]


def test_the_reader_of_avro_is_named_only_where_a_table_needs_it():
    clicks = table("clicks")
    avro = replace(clicks, source=replace(clicks.source, format=Avro()))
    args = step_of("scd2", dag_plan("incremental", domain(table("orders"), avro)))
    jars = "/usr/lib/hudi/hudi-spark-bundle.jar,/usr/lib/spark/connector/lib/spark-avro.jar"
    assert args["HadoopJarStep"]["Args"][3:5] == ["--jars", jars]
    assert "--jars" not in step_of("scd2")["HadoopJarStep"]["Args"]


def test_losses_are_accepted_by_the_stage_that_takes_snapshots():
    plan = dag_plan("incremental", domain(snapshot("stock")))
    asked = {
        stage: step_of(stage, plan, accept_losses=True, empty_scopes=("us",))[
            "HadoopJarStep"
        ]["Args"]
        for stage in ("incremental", "scd2")
    }
    accepted = ["--accept-losses", "--empty-scopes", '["us"]']
    assert asked["incremental"][-3:] == accepted
    assert not set(accepted) & set(asked["scd2"])


def test_where_a_pull_begins_is_told_to_the_stage_that_pulls():
    plan = dag_plan("incremental")
    for stage, wanted in (("incremental", ["--pull-from=-5"]), ("scd2", [])):
        argv = step_of(stage, plan, pull_from="-5")["HadoopJarStep"]["Args"]
        assert [each for each in argv if "pull-from" in each] == wanted


def test_a_reprocess_names_its_files_in_its_own_stage_alone():
    plan, files = dag_plan("reprocess"), ("-a.csv", "days/2026-*/**")
    asked = {
        stage: step_of(
            stage, plan, files=files, quarantined=True, retract_missing=True
        )["HadoopJarStep"]["Args"]
        for stage in ("reprocess", "scd2")
    }
    assert asked["reprocess"][-4:] == [
        "--file=-a.csv",
        "--file=days/2026-*/**",
        "--quarantined",
        "--retract-missing",
    ]
    assert asked["scd2"][-1] == "sales_reprocess/manual-1"


def test_a_run_of_products_names_the_partitions_to_make_again():
    parted = product("totals", "sales.orders", partition_by=("year",))
    plan = dag_plan("products", domain(table("orders"), parted))
    asked = step_of("product", plan, partitions=("year=2025", "year=2026"))
    assert asked["HadoopJarStep"]["Args"][-2:] == [
        "--partition=year=2025",
        "--partition=year=2026",
    ]


def test_a_rebuild_that_verifies_says_which_share_of_the_keys():
    plan = dag_plan("rebuild")
    asked = step_of("rebuild", plan, verify=0.25)["HadoopJarStep"]["Args"]
    assert asked[-2:] == ["--verify", "0.25"]
    assert "--verify" not in step_of("rebuild", plan)["HadoopJarStep"]["Args"]


def test_an_erase_says_where_the_keys_are_and_never_what_they_are():
    plan = dag_plan("erase")
    asked = step_of("erase", plan, request="gdpr-7")["HadoopJarStep"]["Args"]
    assert asked[-1] == "--request=gdpr-7"


def test_a_stage_for_some_tables_names_those_that_were_chosen():
    spec = domain(table("orders"), *(table(n, Engine.STREAMER) for n in "abc"))
    step = step_of(
        "prepare_incremental", dag_plan("incremental", spec), tables=("orders", "b")
    )
    assert step["HadoopJarStep"]["Args"][-2:] == ["--tables", "b"]


def test_a_step_that_is_too_long_for_emr_is_refused_in_words():
    names = [f"table_{number:0>50}" for number in range(200)]
    plan = dag_plan("incremental", domain(*map(table, names), table("last")))
    with pytest.raises(StepError, match=r"EMR allows 10240\. Start the run for fewer"):
        step_of("incremental", plan, tables=tuple(names))


def test_a_step_counts_as_long_as_it_is_quoted():
    plan = dag_plan("reprocess")
    names = [f"it's {number:0>3}.csv" for number in range(400)]
    assert sum(len(f"--file={each}") for each in names) < LONGEST_STEP - 1000
    with pytest.raises(StepError, match="EMR allows 10240"):
        step_of("reprocess", plan, files=tuple(names))


def test_all_of_very_many_tables_fit_because_they_are_not_named():
    names = [f"table_{number:0>50}" for number in range(200)]
    plan = dag_plan("incremental", domain(*map(table, names)))
    step = step_of("incremental", plan)["HadoopJarStep"]
    assert sum(map(len, [step["Jar"], *step["Args"]])) < LONGEST_STEP / 10


def steps_of(manifest, tables=("clicks", "views")):
    plan = dag_plan("full_load", domain(table("clicks"), table("views")))
    return streamer_steps(STREAMER, manifest, run=run(plan, tables=tables))


def test_the_streamer_has_one_step_per_table_with_new_input():
    assert steps_of({"views": ["--class", "Streamer", "a b; c"]}) == [
        {
            "Name": "streamer views manual-1",
            "ActionOnFailure": "CONTINUE",
            "HadoopJarStep": {
                "Jar": "command-runner.jar",
                "Args": ["spark-submit", "--class", "Streamer", "a b; c"],
            },
        }
    ]


@pytest.mark.parametrize(
    "manifest, fault",
    [
        ({"orders": []}, "Expected a list of arguments for each of: clicks, views"),
        ([], r"prepare_full_load/streamer.json: got \[\]"),
        ({"views": "--class x"}, "views: got '--class x'. Expected a list of texts"),
        ({"views": ["--class", 1]}, "Expected a list of texts"),
        ({"views": ["x" * LONGEST_STEP]}, "EMR allows 10240"),
    ],
    ids=["unknown-table", "no-object", "text", "number", "too-long"],
)
def test_a_manifest_that_is_not_what_it_should_be_is_refused(manifest, fault):
    with pytest.raises(StepError, match=fault):
        steps_of(manifest)


def test_a_table_that_the_run_did_not_ask_for_is_not_streamed():
    with pytest.raises(StepError, match="for each of: clicks"):
        steps_of({"views": ["--class", "x"]}, tables=("clicks",))


def test_more_steps_than_a_cluster_takes_are_refused():
    names = tuple(f"t{number}" for number in range(257))
    plan = dag_plan("full_load", domain(*map(table, names)))
    stage = Stage("streamer", names, StageKind.STREAMER, "prepare_full_load")
    with pytest.raises(
        StepError, match="257 tables .* a cluster runs at most 256 steps"
    ):
        streamer_steps(stage, {name: [] for name in names}, run=run(plan))
