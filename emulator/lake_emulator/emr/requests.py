"""What EMR accepts: the rules of RunJobFlow and of steps.

A member of RunJobFlow is used, or kept and only shown, or refused; nothing
is ignored in silence.
"""

from __future__ import annotations

import shlex
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

from lake_emulator.emr.errors import not_covered, validation
from lake_emulator.emr.models import Cluster, Step, new_id
from lake_emulator.runtimes import RELEASES

Refused = Callable[[Sequence[str]], Optional[str]]
RUNNER = "command-runner.jar"
MOST_ACTIVE_STEPS = 256
LONGEST_STEP = 10_240
USED = (
    "AutoTerminationPolicy",
    "Configurations",
    "Instances",
    "LogUri",
    "ManagedScalingPolicy",
    "Name",
    "ReleaseLabel",
    "StepConcurrencyLevel",
    "Steps",
    "Tags",
)
KEPT = (
    "Applications",
    "AutoScalingRole",
    "EbsRootVolumeIops",
    "EbsRootVolumeSize",
    "EbsRootVolumeThroughput",
    "JobFlowRole",
    "LogEncryptionKmsKeyId",
    "OSReleaseLabel",
    "ScaleDownBehavior",
    "SecurityConfiguration",
    "ServiceRole",
    "VisibleToAllUsers",
)
CLASSIFICATIONS_KEPT = (
    "capacity-scheduler",
    "core-site",
    "delta-defaults",
    "emrfs-site",
    "hadoop-env",
    "hdfs-site",
    "hive-site",
    "hudi-defaults",
    "hudi-env",
    "iceberg-defaults",
    "mapred-site",
    "spark",
    "spark-env",
    "spark-hive-site",
    "spark-log4j2",
    "yarn-env",
    "yarn-site",
)


def new_cluster(request: Mapping[str, Any]) -> Cluster:
    """Return a cluster as RunJobFlow describes it, without its steps."""
    _refuse_unknown_members(request)
    _check_release(request.get("ReleaseLabel"))
    _check_configurations(request.get("Configurations", []))
    instances = request["Instances"]
    if instances.get("InstanceGroups") and instances.get("InstanceFleets"):
        message = "Instance fleets and instance groups are mutually exclusive"
        raise validation(message)
    return Cluster(
        id=new_id("j"),
        name=request["Name"],
        release_label=request["ReleaseLabel"],
        described={"Instances": instances, **_picked(request, KEPT)},
        log_uri=request.get("LogUri"),
        tags=pairs(request.get("Tags", [])),
        configurations=list(request.get("Configurations", [])),
        keep_alive=instances.get("KeepJobFlowAliveWhenNoSteps", False),
        protected=instances.get("TerminationProtected", False),
        concurrency=checked_concurrency(request.get("StepConcurrencyLevel", 1)),
        idle_seconds=idle_seconds(request.get("AutoTerminationPolicy", {})),
        scaling=request.get("ManagedScalingPolicy"),
    )


def new_steps(
    cluster: Cluster,
    configs: Iterable[Mapping[str, Any]],
    role: str | None,
    refused: Refused,
) -> list[Step]:
    """Return the steps, all of them checked before the first is taken.

    `refused` says what of a step's arguments is not taken; None for nothing.
    """
    if role and "SecurityConfiguration" not in cluster.described:
        message = "Runtime roles are not supported on this cluster."
        raise validation(f"{message} It has no security configuration.")
    steps = [_new_step(cluster, config, role, refused) for config in configs]
    if len(cluster.active_steps) + len(steps) > MOST_ACTIVE_STEPS:
        message = "Maximum number of active steps(State = 'Running', 'Pending' or"
        raise validation(f"{message} 'Cancel_Pending') for cluster exceeded.")
    return steps


def checked_concurrency(level: int) -> int:
    if not 1 <= level <= MOST_ACTIVE_STEPS:
        message = f"StepConcurrencyLevel must be between 1 and 256, got {level}."
        raise validation(message)
    return level


def idle_seconds(policy: Mapping[str, Any]) -> int | None:
    timeout = policy.get("IdleTimeout")
    if timeout is not None and not 60 <= timeout <= 604_800:
        message = f"IdleTimeout must be between 60 and 604800 seconds, got {timeout}."
        raise validation(message)
    return timeout


def pairs(entries: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {entry["Key"]: entry.get("Value", "") for entry in entries}


def _new_step(
    cluster: Cluster, config: Mapping[str, Any], role: str | None, refused: Refused
) -> Step:
    jar = config["HadoopJarStep"]
    action = config.get("ActionOnFailure", "CONTINUE")
    _check_action(cluster, action)
    _check_size(jar)
    _check_command(jar, _arguments(jar, role), refused)
    return Step(
        id=new_id("s"),
        name=config["Name"],
        action_on_failure=action,
        jar=jar["Jar"],
        args=_arguments(jar, role),
        properties=pairs(jar.get("Properties", [])),
        main_class=jar.get("MainClass"),
        role=role,
    )


def _check_action(cluster: Cluster, action: str) -> None:
    if cluster.concurrency > 1 and action != "CONTINUE":
        raise validation(
            f"ActionOnFailure {action} is not supported when StepConcurrencyLevel is"
            " greater than 1. Use CONTINUE."
        )


def _check_size(jar: Mapping[str, Any]) -> None:
    strings = [jar["Jar"], jar.get("MainClass") or "", *jar.get("Args", [])]
    for entry in jar.get("Properties", []):
        strings += [entry.get("Key", ""), entry.get("Value", "")]
    size = sum(len(text) for text in strings)
    if size > LONGEST_STEP:
        message = "Size of an individual step exceeded the maximum length allowed"
        raise validation(f"{message} ({size} of {LONGEST_STEP} characters).")


def _arguments(jar: Mapping[str, Any], role: str | None) -> list[str]:
    """Return what the command gets; with a runtime role EMR reads them as a shell does."""
    args = list(jar.get("Args", []))
    try:
        return shlex.split(" ".join(args)) if role else args
    except ValueError as error:
        message = "The arguments cannot be read as a shell reads them"
        raise validation(f"{message}: {error}.") from None


def _check_command(jar: Mapping[str, Any], args: list[str], refused: Refused) -> None:
    if jar["Jar"].rpartition("/")[2] != RUNNER:
        raise not_covered(f"the step jar {jar['Jar']} (only {RUNNER})")
    if other := refused(args):
        raise not_covered(other)


def _refuse_unknown_members(request: Mapping[str, Any]) -> None:
    for member, value in request.items():
        if member not in USED + KEPT and value not in (None, [], {}, False):
            raise not_covered(f"RunJobFlow's {member}")


def _check_release(label: str | None) -> None:
    if label not in RELEASES:
        known = ", ".join(RELEASES)
        message = f"The supplied release label is invalid: {label}."
        raise validation(f"{message} The emulator knows: {known}.")


def _check_configurations(configurations: Iterable[Mapping[str, Any]]) -> None:
    for configuration in configurations:
        name = configuration.get("Classification", "")
        if name != "spark-defaults" and name not in CLASSIFICATIONS_KEPT:
            raise not_covered(f"the configuration classification {name}")


def _picked(request: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: request[name] for name in names if name in request}
