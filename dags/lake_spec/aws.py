"""Where specs run: clusters and environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.setting import setting


@dataclass(frozen=True)
class ClusterSpec:
    """The EMR cluster of a run (`clusters/<name>.yml`)."""

    name: str = setting("Name of the cluster; also of its file.", example="standard")
    release_label: str = setting("EMR release.", "emr-7.13.0")
    primary_type: str = setting("Instance type of the primary node.", "m7g.xlarge")
    core_type: str = setting("Instance type of the core nodes.", "m7g.xlarge")
    core_count: int = setting("How many core nodes (1 to 100).", 1)
    step_concurrency: int = setting("Steps that may run at once (1 to 256).", 1)
    idle_minutes: int = setting(
        "Idle minutes after which EMR ends the cluster by itself (1 to 10080).", 60
    )
    max_hours: int = setting(
        "Hours after which the reaper ends the cluster, whatever it does (1 to 168).",
        24,
    )
    driver_memory: str = setting("Memory of a Spark driver.", "4g", example="4g")
    tags: Tuple[Tuple[str, str], ...] = setting("Tags for the bill.", ())


@dataclass(frozen=True)
class EnvironmentSpec:
    """Where one environment's data and clusters live (`environments/<name>.yml`)."""

    name: str = setting("Name of the environment; also of its file.", example="dev")
    region: str = setting("AWS region.", example="eu-central-1")
    landing: str = setting("Root of the landing files.", example="s3://lake/landing")
    warehouse: str = setting("Root of the Hudi tables.", example="s3://lake/warehouse")
    artifacts: str = setting("Where releases are put.", example="s3://lake/artifacts")
    runs: str = setting("Where runs write reports.", example="s3://lake/runs")
    logs: str = setting("Where EMR writes its logs.", example="s3://lake/logs")
    service_role: str = setting("EMR service role.", "EMR_DefaultRole_V2")
    instance_profile: str = setting("Role of the instances.", "EMR_EC2_DefaultRole")
    subnet: Optional[str] = setting("Subnet of the clusters.", None)
    security_configuration: Optional[str] = setting("EMR security configuration.", None)
    reaper_schedule: Optional[str] = setting(
        "Cron text of the DAG that ends clusters which no run needs; left out means by"
        " hand only.",
        None,
        example="*/15 * * * *",
    )
    alarm_topic: Optional[str] = setting(
        "ARN of the SNS topic that hears of clusters which could not be ended.", None
    )
