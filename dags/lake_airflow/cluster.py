"""The RunJobFlow request of a run's cluster, as plain data."""

from __future__ import annotations

import re
from typing import Any

from lake_airflow.plan import DagPlan
from lake_airflow.run import Run
from lake_spec.model import ClusterSpec, EnvironmentSpec

ALIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")
ENDING = ("TERMINATING",)
ENDED = ("TERMINATED", "TERMINATED_WITH_ERRORS")
_TAG_VALUE = re.compile(r"[\w .:/=+@-]{1,256}")

# What Spark needs to read and write Hudi tables.
SPARK_DEFAULTS = {
    "spark.jars": "/usr/lib/hudi/hudi-spark-bundle.jar",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": (
        "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
    ),
}


def cluster_name(run_name: str) -> str:
    """One name per run: who looks for the run's cluster finds it by this."""
    return f"lake {run_name.replace('/', ' ', 1)}"


def run_job_flow_request(
    plan: DagPlan, *, run: Run, cluster: ClusterSpec, environment: EnvironmentSpec
) -> dict[str, Any]:
    """What to ask EMR for: one transient cluster for all stages of the run."""
    request = {
        "Name": cluster_name(run.name),
        "LogUri": log_folder(environment, run.name),
        "ReleaseLabel": cluster.release_label,
        "Applications": [{"Name": "Hadoop"}, {"Name": "Spark"}],
        "Configurations": _configurations(cluster),
        "Instances": _instances(cluster, environment),
        "StepConcurrencyLevel": cluster.step_concurrency,
        "AutoTerminationPolicy": {"IdleTimeout": cluster.idle_minutes * 60},
        "ServiceRole": environment.service_role,
        "JobFlowRole": environment.instance_profile,
        "VisibleToAllUsers": True,
        "Tags": _tags(plan, run, cluster, environment),
    }
    if environment.security_configuration:
        request["SecurityConfiguration"] = environment.security_configuration
    return request


def log_folder(environment: EnvironmentSpec, run_name: str) -> str:
    """Where EMR puts the logs of the run's cluster and steps."""
    return f"{environment.logs}/{run_name}/"


def _configurations(cluster: ClusterSpec) -> list[dict[str, Any]]:
    defaults = {**SPARK_DEFAULTS, "spark.driver.memory": cluster.driver_memory}
    return [{"Classification": "spark-defaults", "Properties": defaults}]


def _instances(cluster: ClusterSpec, environment: EnvironmentSpec) -> dict[str, Any]:
    instances = {
        "InstanceGroups": [
            _group("Primary", "MASTER", cluster.primary_type, 1),
            _group("Core", "CORE", cluster.core_type, cluster.core_count),
        ],
        "KeepJobFlowAliveWhenNoSteps": True,
        "TerminationProtected": False,
    }
    if environment.subnet:
        instances["Ec2SubnetId"] = environment.subnet
    return instances


def _group(name: str, role: str, instance_type: str, count: int) -> dict[str, Any]:
    return {
        "Name": name,
        "InstanceRole": role,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "Market": "ON_DEMAND",
    }


def _tags(
    plan: DagPlan, run: Run, cluster: ClusterSpec, environment: EnvironmentSpec
) -> list[dict[str, str]]:
    """Ours win over the cluster file's: what ends clusters goes by them."""
    tags = {
        **dict(cluster.tags),
        # Without this tag EMR_DefaultRole_V2 may not start instances.
        "for-use-with-amazon-emr-managed-policies": "true",
        "lake:domain": plan.domain,
        "lake:dag": run.dag_id,
        "lake:run": run.key,
        "lake:release": run.release,
        "lake:environment": environment.name,
        "lake:max-hours": str(cluster.max_hours),
    }
    if _TAG_VALUE.fullmatch(run.run_id):
        tags["lake:run-id"] = run.run_id
    return [{"Key": key, "Value": value} for key, value in tags.items()]
