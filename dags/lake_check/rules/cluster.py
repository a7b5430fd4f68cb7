"""Rules on clusters: EMR's own limits, checked before any call."""

from __future__ import annotations

import re
from typing import Iterator

from lake_check.rules import aws
from lake_check.rules.rule_set import RuleSet
from lake_spec.diagnostics.diagnostic import Problem, got
from lake_spec.model import ClusterSpec
from lake_spec.model import names
from lake_spec.model.instances import InstanceFleets
from lake_spec.platform.aws_releases import why_not

CLUSTER = RuleSet()


_SCRIPT = re.compile(
    r"(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/)?[A-Za-z0-9_.=+-]+(/[A-Za-z0-9_.=+-]+)*"
)
_ARGUMENT = re.compile(r"[A-Za-z0-9_.:/=,@%+-]{1,256}")
_SETTING_VALUE = re.compile(r"[A-Za-z0-9_.+-]{1,40}")

# What makes Spark fast or patient. What can change a row (zones, ANSI, case) or
# contain a secret is not a setting of clusters.
SPARK_SETTINGS = (
    "spark.default.parallelism",
    "spark.driver.cores",
    "spark.driver.maxResultSize",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.dynamicAllocation.*",
    "spark.executor.cores",
    "spark.executor.heartbeatInterval",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.io.compression.codec",
    "spark.locality.wait",
    "spark.memory.fraction",
    "spark.memory.storageFraction",
    "spark.network.timeout",
    "spark.reducer.maxSizeInFlight",
    "spark.rpc.askTimeout",
    "spark.shuffle.io.*",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    "spark.sql.adaptive.coalescePartitions.*",
    "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.skewJoin.*",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.shuffle.partitions",
    "spark.stage.maxConsecutiveAttempts",
    "spark.task.cpus",
    "spark.task.maxFailures",
    "spark.yarn.executor.failuresValidityInterval",
    "spark.yarn.maxAppAttempts",
)
_SPARK_SETTING = re.compile(
    "|".join(
        re.escape(name).replace(r"\*", r"[A-Za-z0-9]+(\.[A-Za-z0-9]+)*")
        for name in SPARK_SETTINGS
    )
)


@CLUSTER.rule("name")
def cluster_name_is_valid(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse a cluster's name that is not valid in paths and tags.

    Fix: Write 1 to 63 of a-z, 0-9 and _, beginning with a letter, and name the file so.
    """
    yield from names.name(("name",), spec.name)


@CLUSTER.rule("release_label")
def release_label_has_hudi(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse an EMR release without the Hudi version that the tables need.

    Fix: Write a release label that docs/reference/aws-releases.md lists as taken.
    """
    reason = why_not(spec.release_label)
    if reason:
        yield got(("release_label",), spec.release_label, reason)


@CLUSTER.rule("instances", "start_minutes")
def start_outlasts_spot_timeout(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse a start that times out while the cluster still waits for Spot.

    Fix: Set `start_minutes` above `instances.task.spot.timeout_duration_minutes`.
    """
    nodes = spec.instances
    if not isinstance(nodes, InstanceFleets) or not nodes.has_spot:
        return
    assert nodes.task is not None, "only fleets of tasks are Spot"
    minutes = nodes.task.spot.timeout_duration_minutes
    if spec.start_minutes <= minutes:
        hint = (
            f"Choose more than {minutes} minutes: the start waits that long for Spot "
            "instances (instances.task.spot.timeout_duration_minutes)."
        )
        yield got(("start_minutes",), spec.start_minutes, hint)


@CLUSTER.rule("spark_defaults")
def spark_defaults_are_allowed(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse Spark settings that could change rows or contain secrets.

    Fix: Choose a setting of the list in the message, and write a plain value.
    """
    for key, value in spec.spark_defaults:
        path = ("spark_defaults", key)
        if key == "spark.driver.memory":
            yield got(path, key, "Write it as `driver_memory`.")
        elif not _SPARK_SETTING.fullmatch(key):
            choices = ", ".join(SPARK_SETTINGS)
            yield got(path, key, f"Choose one of: {choices}.")
        elif not _SETTING_VALUE.fullmatch(value):
            hint = "Write 1 to 40 of A-Z a-z 0-9 _ . + -, as in 10g or 0.6."
            yield got(path, value, hint)


@CLUSTER.rule("bootstrap_actions")
def bootstrap_actions_are_scripts_on_s3(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse bootstrap actions that EMR does not accept.

    Fix: Give each a name, the path of a script below `artifacts` or an s3:// URI, and
    plain arguments.
    """
    for position, action in enumerate(spec.bootstrap_actions):
        top = ("bootstrap_actions", position)
        yield from names.label((*top, "name"), action.name, 128)
        if not _SCRIPT.fullmatch(action.path) or ".." in action.path.split("/"):
            hint = (
                "Write a path below `artifacts`, as in bootstrap/install_ca.sh, or an"
                " s3:// URI; of A-Z a-z 0-9 _ . = + -."
            )
            yield got((*top, "path"), action.path, hint)
        for number, argument in enumerate(action.args):
            if not _ARGUMENT.fullmatch(argument):
                hint = "Write 1 to 256 of A-Z a-z 0-9 _ . : / = , @ % + -."
                yield got((*top, "args", number), argument, hint)


@CLUSTER.rule("tags")
def cluster_tags_fit_aws(spec: ClusterSpec) -> Iterator[Problem]:
    """Refuse tags that AWS does not accept or that the project sets itself.

    Fix: Write short plain keys and values, at most 20; do not begin keys with `aws:` or
    `lake:`.
    """
    yield from aws.tags(spec.tags)
