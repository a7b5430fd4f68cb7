"""Where specs run: clusters and environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.model.connections import Connection
from lake_spec.model.instances import InstanceGroups, Instances, ManagedScaling
from lake_spec.model.spec_field import setting


@dataclass(frozen=True)
class BootstrapAction:
    """A script that runs on every node before Hadoop starts."""

    name: str = setting("What EMR calls it.", example="install-ca")
    path: str = setting(
        "The script: below `artifacts` of the environment, or an s3:// URI.",
        example="bootstrap/install_ca.sh",
    )
    args: Tuple[str, ...] = setting("Its arguments.", ())


@dataclass(frozen=True)
class ClusterSpec:
    """The EMR cluster of a run (`clusters/<name>.yml`)."""

    name: str = setting("Name of the cluster; also of its file.", example="standard")
    release_label: str = setting("EMR release, 7.11.0 or later.", "emr-7.13.0")
    instances: Instances = setting("Its nodes.", InstanceGroups())
    managed_scaling: Optional[ManagedScaling] = setting(
        "Bounds of EMR's managed scaling; without it the nodes stay as they are.", None
    )
    ebs_root_volume_size: Optional[int] = setting(
        "GiB of each node's root volume (15 to 100).", None
    )
    tables_at_once: int = setting(
        "Tables that a Spark step works on at once (1 to 64).", 4
    )
    step_concurrency_level: int = setting("Steps that may run at once (1 to 256).", 1)
    start_minutes: int = setting(
        "Minutes that the cluster may take to start; after them the run fails and ends"
        " it (10 to 1440).",
        40,
    )
    idle_minutes: int = setting(
        "Idle minutes after which EMR ends the cluster by itself (1 to 10080).", 60
    )
    max_hours: int = setting(
        "Hours after which the reaper ends the cluster, whatever it does (1 to 168).",
        24,
    )
    driver_memory: str = setting("Memory of a Spark driver.", "4g", example="4g")
    spark_defaults: Tuple[Tuple[str, str], ...] = setting(
        "Settings of Spark on memory, cores, parallelism, shuffle and lost nodes.",
        (),
        example={"spark.executor.memory": "10g"},
    )
    bootstrap_actions: Tuple[BootstrapAction, ...] = setting(
        "Scripts that run on every node first (up to 16).", ()
    )
    tags: Tuple[Tuple[str, str], ...] = setting("Tags for the bill (up to 20).", ())


@dataclass(frozen=True)
class SecurityGroups:
    """EC2 security groups of the nodes, where EMR is not to make its own."""

    primary: str = setting(
        "Of the primary node (EmrManagedMasterSecurityGroup).",
        example="sg-0123456789abcdef0",
    )
    core_and_task: str = setting(
        "Of the others (EmrManagedSlaveSecurityGroup).",
        example="sg-0123456789abcdef1",
    )
    service_access: Optional[str] = setting(
        "By which EMR reaches nodes in private subnets (ServiceAccessSecurityGroup).",
        None,
    )
    additional_primary: Tuple[str, ...] = setting("More for the primary node.", ())
    additional_core_and_task: Tuple[str, ...] = setting("More for the others.", ())


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
    cluster: Optional[str] = setting(
        "Name of a file in `clusters/` that every domain uses here, whatever its own"
        " file says.",
        None,
    )
    service_role: str = setting(
        "EMR service role: its name or ARN.", "EMR_DefaultRole_V2"
    )
    instance_profile: str = setting("Role of the instances.", "EMR_EC2_DefaultRole")
    runtime_role: Optional[str] = setting(
        "ARN of the role that steps run as, for domains that `runtime_roles` does not"
        " name; without it that of the instances.",
        None,
    )
    runtime_roles: Tuple[Tuple[str, str], ...] = setting(
        "ARN of the role that the steps of a domain run as, by the domain's name.",
        (),
        example={"moma": "arn:aws:iam::111122223333:role/lake-moma"},
    )
    security_configuration: Optional[str] = setting(
        "EMR security configuration; a runtime role needs one that enables it.", None
    )
    subnets: Tuple[str, ...] = setting(
        "Subnets of the clusters: fleets take the best one, instance groups the first.",
        (),
    )
    security_groups: Optional[SecurityGroups] = setting(
        "Security groups of the nodes; without them EMR makes its own.", None
    )
    log_encryption_kms_key_id: Optional[str] = setting(
        "ARN of the KMS key that EMR encrypts its logs with.", None
    )
    s3_encryption_kms_key_id: Optional[str] = setting(
        "ARN of the KMS key that Spark's writes to S3 ask for; without it the default"
        " encryption of the bucket counts.",
        None,
    )
    tags: Tuple[Tuple[str, str], ...] = setting(
        "Tags of every cluster (up to 20); those of the cluster's file win.", ()
    )
    reaper_schedule: Optional[str] = setting(
        "Cron text of the DAG that ends clusters which no run needs; left out means"
        " manual runs only.",
        None,
        example="*/15 * * * *",
    )
    alarm_topic: Optional[str] = setting(
        "ARN of the SNS topic that hears of clusters which could not be ended, of the"
        " budget and of a scheduler that stands still.",
        None,
    )
    erase_secret: Optional[str] = setting(
        "Name of the SSM parameter (SecureString) whose value makes the keyed hashes of"
        " erased keys; without it nothing can be erased.",
        None,
        example="/lake/dev/erase",
    )

    connections: Tuple[Tuple[str, Connection], ...] = setting(
        "Servers that landing files are pulled from, by the names that tables give them.",
        (),
        example={
            "shop_db": {
                "kind": "postgresql",
                "host": "shop.example.internal",
                "database": "shop",
                "secret": "lake/dev/shop",
            }
        },
    )
    jars: Tuple[str, ...] = setting(
        "s3:// URIs of jars that Spark steps are given, as drivers of databases.",
        (),
        example=["s3://lake/artifacts/jars/postgresql-42.7.4.jar"],
    )

    def runtime_role_of(self, domain: str) -> Optional[str]:
        """ARN of the role that the steps of a domain run as, if there is one."""
        return dict(self.runtime_roles).get(domain, self.runtime_role)
