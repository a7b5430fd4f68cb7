"""EMR's limits, and the loud refusal of what the emulator does not cover."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from lake_emulator.runtimes import LABELS


def test_the_257th_active_step_is_refused(emr, cluster, add, step):
    add(cluster, step("bash", "-c", "sleep 60"), *(step("true") for _ in range(255)))
    code, message = refused(lambda: add(cluster, step("true")))
    assert code == "ValidationException"
    assert message == (
        "Maximum number of active steps(State = 'Running', 'Pending' or"
        " 'Cancel_Pending') for cluster exceeded."
    )


def test_of_steps_that_are_too_many_together_none_is_taken(emr, cluster, add, step):
    refused(lambda: add(cluster, *(step("true") for _ in range(257))))
    assert emr.list_steps(ClusterId=cluster)["Steps"] == []


def test_a_step_of_10240_characters_is_taken(cluster, add, step):
    words = len("command-runner.jar") + len("true")
    assert add(cluster, step("true", "x" * (10_240 - words)))


def test_a_step_of_10241_characters_is_refused(cluster, add, step):
    words = len("command-runner.jar") + len("true")
    code, message = refused(lambda: add(cluster, step("true", "x" * (10_241 - words))))
    assert code == "ValidationException"
    assert "exceeded the maximum length allowed (10241 of 10240" in message


def test_step_ids_in_a_list_request_are_at_most_10(emr, cluster):
    ids = [f"s-{n}" for n in range(11)]
    code, message = refused(lambda: emr.list_steps(ClusterId=cluster, StepIds=ids))
    assert code == "InvalidRequestException"
    assert message == "At most 10 StepIds can be specified, got 11."


@pytest.mark.parametrize("action", ["CANCEL_AND_WAIT", "TERMINATE_CLUSTER"])
def test_with_concurrency_above_1_only_continue_is_taken(launch, add, step, action):
    cluster = launch(StepConcurrencyLevel=2)
    code, message = refused(lambda: add(cluster, step("true", action=action)))
    assert code == "ValidationException"
    assert f"ActionOnFailure {action} is not supported" in message


@pytest.mark.parametrize("level", [0, 257])
def test_concurrency_is_from_1_to_256(launch, level):
    code, message = refused(lambda: launch(StepConcurrencyLevel=level))
    assert code == "ValidationException"
    assert message == f"StepConcurrencyLevel must be between 1 and 256, got {level}."


@pytest.mark.parametrize("seconds", [59, 604_801])
def test_an_idle_timeout_is_from_a_minute_to_a_week(launch, seconds):
    policy = {"IdleTimeout": seconds}
    code, message = refused(lambda: launch(AutoTerminationPolicy=policy))
    assert code == "ValidationException"
    assert message.endswith(f"between 60 and 604800 seconds, got {seconds}.")


def test_an_unknown_release_is_refused_naming_the_known_ones(launch):
    code, message = refused(lambda: launch(ReleaseLabel="emr-6.1.0"))
    assert code == "ValidationException"
    assert message == (
        "The supplied release label is invalid: emr-6.1.0."
        f" The emulator knows: {', '.join(LABELS)}."
    )


def test_instance_groups_and_fleets_exclude_each_other(launch):
    group = {"InstanceRole": "MASTER", "InstanceType": "m7g.large", "InstanceCount": 1}
    fleet = {"InstanceFleetType": "MASTER", "TargetOnDemandCapacity": 1}
    both = {"InstanceGroups": [group], "InstanceFleets": [fleet]}
    code, _ = refused(lambda: launch(Instances=both))
    assert code == "ValidationException"


@pytest.mark.parametrize(
    "request_, named",
    [
        (
            {
                "BootstrapActions": [
                    {"Name": "b", "ScriptBootstrapAction": {"Path": "s"}}
                ]
            },
            "RunJobFlow's BootstrapActions",
        ),
        (
            {"Configurations": [{"Classification": "trino-config"}]},
            "the configuration classification trino-config",
        ),
    ],
    ids=["bootstrap actions", "a classification"],
)
def test_what_is_not_covered_of_a_cluster_is_refused(launch, request_, named):
    code, message = refused(lambda: launch(**request_))
    assert code == "NotCovered"
    assert message == f"The emulator does not cover {named}: see emulator/COVERAGE.md"


def test_a_runtime_role_needs_a_security_configuration(cluster, add, step):
    role = "arn:aws:iam::111122223333:role/lake-steps"
    code, message = refused(lambda: add(cluster, step("true"), ExecutionRoleArn=role))
    assert code == "ValidationException"
    assert message.startswith("Runtime roles are not supported on this cluster.")


def test_arguments_that_no_shell_could_read_are_refused(launch, add, step):
    role = "arn:aws:iam::111122223333:role/lake-steps"
    cluster = launch(SecurityConfiguration="runtime-roles")
    broken = step("bash", "-c", "it's")
    code, message = refused(lambda: add(cluster, broken, ExecutionRoleArn=role))
    assert code == "ValidationException"
    assert "cannot be read as a shell reads them: No closing quotation" in message


def test_a_command_outside_the_list_is_refused(cluster, add, step):
    code, message = refused(lambda: add(cluster, step("rm", "-rf", "x")))
    assert code == "NotCovered"
    assert "a step that starts 'rm' (only spark-submit)" in message


def test_another_jar_than_the_command_runner_is_refused(cluster, add):
    jar = {"Jar": "s3://lake/my.jar", "Args": ["true"]}
    code, message = refused(lambda: add(cluster, {"Name": "x", "HadoopJarStep": jar}))
    assert code == "NotCovered"
    assert "the step jar s3://lake/my.jar (only command-runner.jar)" in message


def test_a_call_that_is_not_covered_is_refused(emr):
    code, message = refused(lambda: emr.list_studios())
    assert code == "NotCovered"
    assert "the EMR call ListStudios" in message


def refused(call) -> tuple[str, str]:
    with pytest.raises(ClientError) as raised:
        call()
    error = raised.value.response["Error"]
    return error["Code"], error["Message"]
