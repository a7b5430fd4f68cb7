"""The RunJobFlow request of a run's cluster, as plain data; and what AWS has against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from lake_airflow.emr.instances import given, instances, managed_scaling_policy
from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.run import Run
from lake_airflow.settings import airflow_name
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.facts.table_order import TABLES_AT_ONCE
from lake_spec.model import ClusterSpec, EnvironmentSpec
from lake_spec.platform.deployment import DEPLOYMENT_TAG, deployment
from lake_spec.platform.jars import HUDI
from lake_spec.platform.parallelism import CLUSTER_CORES, cluster_cores

ALIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
ENDING = ("TERMINATING",)
ENDED = ("TERMINATED", "TERMINATED_WITH_ERRORS")
NAME_PREFIX = "lake "  # of the names of all clusters of ours
AIRFLOW_TAG = "lake:airflow"  # which Airflow made it
_TAG_VALUE = re.compile(r"[\w .:/=+@-]{1,256}")

# Tables of one application compile some thousand queries, and a JVM whose space for
# compiled code is full can die of it. It is taken as it is needed.
_CODE = "-XX:ReservedCodeCacheSize=512m"

# What Spark needs to read and write Hudi tables.
SPARK_DEFAULTS = {
    "spark.driver.extraJavaOptions": _CODE,
    "spark.executor.extraJavaOptions": _CODE,
    "spark.jars": HUDI,
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": (
        "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
    ),
}

# On Spot, application masters stay on core nodes, which are on demand: a lost task
# node costs tasks that are done again, a lost master the whole step.
MASTERS_ON_CORE = {
    "yarn.node-labels.enabled": "true",
    "yarn.node-labels.am.default-node-label-expression": "CORE",
}
# As AWS says for several applications at once on labelled nodes.
MANY_MASTERS = {"yarn.scheduler.capacity.maximum-am-resource-percent": "1"}


def cluster_name(run_name: str) -> str:
    """Return the name of a run's cluster: one per run, to find the cluster by."""
    return f"{NAME_PREFIX}{run_name.replace('/', ' ', 1)}"


def run_job_flow_request(
    plan: DagPlan, *, run: Run, cluster: ClusterSpec, environment: EnvironmentSpec
) -> dict[str, Any]:
    """Build the request to EMR: one transient cluster for all stages of the run."""
    return given(
        Name=cluster_name(run.name),
        LogUri=log_folder(environment, run.name),
        LogEncryptionKmsKeyId=environment.log_encryption_kms_key_id,
        ReleaseLabel=cluster.release_label,
        CustomAmiId=environment.custom_ami,
        Applications=[{"Name": "Hadoop"}, {"Name": "Spark"}],
        Configurations=_configurations(cluster, environment),
        Instances=instances(cluster, environment),
        EbsRootVolumeSize=cluster.ebs_root_volume_size,
        ManagedScalingPolicy=managed_scaling_policy(cluster),
        StepConcurrencyLevel=cluster.step_concurrency_level,
        AutoTerminationPolicy={"IdleTimeout": cluster.idle_minutes * 60},
        BootstrapActions=_bootstrap_actions(cluster, environment),
        SecurityConfiguration=environment.security_configuration,
        ServiceRole=environment.service_role,
        JobFlowRole=environment.instance_profile,
        VisibleToAllUsers=True,
        Tags=_tags(plan, run, cluster, environment),
    )


def log_folder(environment: EnvironmentSpec, run_name: str) -> str:
    """Return the folder of EMR's logs of the run's cluster and steps."""
    return f"{environment.logs}/{run_name}/"


def _configurations(
    cluster: ClusterSpec, environment: EnvironmentSpec
) -> list[dict[str, Any]]:
    ours = {
        **SPARK_DEFAULTS,
        "spark.driver.memory": cluster.driver_memory,
        TABLES_AT_ONCE: str(cluster.tables_at_once),
        CLUSTER_CORES: str(cluster_cores(cluster)),
    }
    properties = {"spark-defaults": {**dict(cluster.spark_defaults), **ours}}
    if cluster.instances.has_spot:
        properties["yarn-site"] = MASTERS_ON_CORE
        if cluster.step_concurrency_level > 1:
            properties["capacity-scheduler"] = MANY_MASTERS
    if key := environment.s3_encryption_kms_key_id:
        properties["core-site"] = {
            "fs.s3a.encryption.algorithm": "SSE-KMS",
            "fs.s3a.encryption.key": key,
        }
    return [
        {"Classification": name, "Properties": each}
        for name, each in properties.items()
    ]


def _bootstrap_actions(
    cluster: ClusterSpec, environment: EnvironmentSpec
) -> list[dict[str, Any]]:
    return [
        {
            "Name": action.name,
            "ScriptBootstrapAction": {
                "Path": (
                    action.path
                    if action.path.startswith("s3://")
                    else f"{environment.artifacts}/{action.path}"
                ),
                "Args": list(action.args),
            },
        }
        for action in cluster.bootstrap_actions
    ]


def _tags(
    plan: DagPlan, run: Run, cluster: ClusterSpec, environment: EnvironmentSpec
) -> list[dict[str, str]]:
    """Merge tags; the project's own take precedence, as terminating clusters uses
    them."""
    airflow = airflow_name()
    tags = {
        **dict(environment.tags),
        **dict(cluster.tags),
        # Without this tag EMR_DefaultRole_V2 may not start instances.
        "for-use-with-amazon-emr-managed-policies": "true",
        "lake:domain": plan.domain,
        "lake:dag": run.dag_id,
        "lake:run": run.key,
        "lake:release": run.release,
        "lake:environment": environment.name,
        DEPLOYMENT_TAG: deployment(environment),
        **({AIRFLOW_TAG: airflow} if airflow else {}),
        "lake:max-hours": str(cluster.max_hours),
    }
    if _TAG_VALUE.fullmatch(run.run_id):
        tags["lake:run-id"] = run.run_id
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def request_problems(request: dict[str, Any], model: ServiceModel) -> str:
    """Check a request against AWS's own model of it, before anything is sent.

    botocore itself holds a request to names, types and lower bounds alone; the choices
    and upper bounds of its model are held to by EMR.

    Returns:
        What the model has against the request, as sentences; empty if nothing.
    """
    shape = model.operation_model("RunJobFlow").input_shape
    report = ParamValidator().validate(request, shape).generate_report()
    if report:
        return f"{report.rstrip('.')}."
    return " ".join(_beyond(request, shape, "RunJobFlow"))


def _beyond(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """List values that are no allowed choice, or above their bound."""
    if shape.type_name == "structure":
        for name, each in value.items():
            yield from _beyond(each, shape.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        for position, each in enumerate(value):
            yield from _beyond(each, shape.member, f"{path}[{position}]")
    elif shape.type_name != "map":  # properties: any text
        yield from _beyond_bounds(value, shape, path)


def _beyond_bounds(value: Any, shape: Shape, path: str) -> Iterator[str]:
    choices, most = shape.metadata.get("enum"), shape.metadata.get("max")
    size = len(value) if isinstance(value, str) else value
    if choices and value not in choices:
        yield f"{path}: got {shown(value)}. Choose one of: {', '.join(choices)}."
    if most is not None and size > most:
        unit = " characters" if isinstance(value, str) else ""
        yield f"{path}: got {size}{unit}. Choose at most {most}."
