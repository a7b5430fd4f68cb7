"""Specs of AWS resources: clusters and environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.model.choices import ReadableAs
from lake_spec.model.connections import Connection
from lake_spec.model.forms import (
    AIRFLOW_NAME,
    AMI,
    BUCKET,
    CIDR,
    CRON,
    FOLDER,
    JAR,
    KMS_KEY,
    MEMORY,
    POLICY_ARN,
    REGION,
    ROLE,
    ROLE_ARN,
    ROLE_NAME,
    ROLE_PATH,
    S3_FOLDER,
    SECURITY_GROUP,
    SNS_TOPIC,
    SUBNET,
    VPC,
)
from lake_spec.model.instances import InstanceGroups, Instances, ManagedScaling
from lake_spec.model.limits import Limits
from lake_spec.model.names import DOMAIN_OR_TABLE, NAME
from lake_spec.model.spec_field import setting

MOST_BOOTSTRAP_ACTIONS = 16
"""EMR's limit."""


@dataclass(frozen=True)
class BootstrapAction:
    """A script that runs on every node before Hadoop starts."""

    name: str = setting("Name that EMR shows.", example="install-ca")
    path: str = setting(
        "Path of the script below `artifacts` of the environment, or an s3:// URI.",
        example="bootstrap/install_ca.sh",
    )
    args: Tuple[str, ...] = setting("Its arguments.", ())


@dataclass(frozen=True)
class ClusterSpec:
    """The EMR cluster of a run (`clusters/<name>.yml`)."""

    name: str = setting("Name of the cluster and of its file.", example="standard")
    release_label: str = setting(
        "EMR release, one of docs/reference/aws-releases.md.", "emr-7.13.0"
    )
    instances: Instances = setting("Its nodes.", InstanceGroups())
    managed_scaling: Optional[ManagedScaling] = setting(
        "Bounds of EMR's managed scaling; without it the number of nodes does not "
        "change.",
        None,
    )
    ebs_root_volume_size: Optional[int] = setting(
        "GiB of each node's root volume.", None, limits=Limits(15, 100)
    )
    tables_at_once: int = setting(
        "Tables that a Spark step processes at once.", 4, limits=Limits(1, 64)
    )
    step_concurrency_level: int = setting(
        "Steps that may run at once.", 1, limits=Limits(1, 256)
    )
    start_minutes: int = setting(
        "Minutes that the cluster may take to start; then the run fails and "
        "terminates it.",
        40,
        limits=Limits(10, 1440),
    )
    idle_minutes: int = setting(
        "Idle minutes after which EMR terminates the cluster.",
        60,
        limits=Limits(1, 10080),
    )
    max_hours: int = setting(
        "Hours after which `lake_reaper` terminates the cluster, even if it is busy.",
        24,
        limits=Limits(1, 168),
    )
    driver_memory: str = setting(
        "Memory of a Spark driver.", "4g", example="4g", form=MEMORY
    )
    spark_defaults: Tuple[Tuple[str, str], ...] = setting(
        "Spark settings for memory, cores, parallelism, shuffle and lost nodes.",
        (),
        example={"spark.executor.memory": "10g"},
    )
    bootstrap_actions: Tuple[BootstrapAction, ...] = setting(
        "Scripts that run on every node at start.",
        (),
        entries=Limits(0, MOST_BOOTSTRAP_ACTIONS),
    )
    tags: Tuple[Tuple[str, str], ...] = setting(
        ("Tags for cost allocation (up to 20)."), ()
    )


@dataclass(frozen=True)
class SecurityGroups:
    """EC2 security groups of the nodes, where EMR is not to make its own."""

    primary: str = setting(
        "Security group of the primary node (EmrManagedMasterSecurityGroup).",
        example="sg-0123456789abcdef0",
        form=SECURITY_GROUP,
    )
    core_and_task: str = setting(
        "Security group of the other nodes (EmrManagedSlaveSecurityGroup).",
        example="sg-0123456789abcdef1",
        form=SECURITY_GROUP,
    )
    service_access: Optional[str] = setting(
        "Security group by which EMR reaches nodes in private subnets "
        "(ServiceAccessSecurityGroup).",
        None,
        form=SECURITY_GROUP,
    )
    additional_primary: Tuple[str, ...] = setting(
        ("Additional groups of the primary node."), (), form=SECURITY_GROUP
    )
    additional_core_and_task: Tuple[str, ...] = setting(
        ("Additional groups of the other nodes."), (), form=SECURITY_GROUP
    )


@dataclass(frozen=True)
class OwnNetwork:
    """A network that is there already, in which the templates make their groups alone."""

    vpc: str = setting("Its VPC.", example="vpc-0123456789abcdef0", form=VPC)
    cidr: str = setting(
        "Addresses of the VPC, which the endpoints of services answer.",
        example="10.20.0.0/16",
        form=CIDR,
    )
    subnet_a: str = setting(
        "A private subnet, for Airflow and the endpoints.",
        example="subnet-0123456789abcdef0",
        form=SUBNET,
    )
    subnet_b: str = setting(
        "Another one, in another zone.",
        example="subnet-0123456789abcdef1",
        form=SUBNET,
    )


@dataclass(frozen=True)
class LandingRoot:
    """Landing files that others write, in a bucket of any account: they are only read."""

    uri: str = setting(
        "Where they lie, in the place of the folder of the domain below `landing`.",
        example="s3://partner-drop/out",
        form=S3_FOLDER,
    )
    used_by: Tuple[str, ...] = setting(
        "Domains, and tables as `domain.table`, whose landing files are there.",
        example=["sales.orders"],
        form=DOMAIN_OR_TABLE,
    )
    kms_key_id: Optional[str] = setting(
        "ARN of the KMS key that encrypts them, also one of another account; if left "
        "out, that of the environment or none.",
        None,
        form=KMS_KEY,
    )


@dataclass(frozen=True)
class SharedAirflow:
    """An MWAA environment of others, who have DAGs, requirements and plugins there."""

    name: str = setting("Its name.", example="team-airflow", form=AIRFLOW_NAME)
    bucket: str = setting(
        "The bucket that it reads.", example="team-airflow-bucket", form=BUCKET
    )
    dags: str = setting(
        "The folder of its DAGs in the bucket (DagS3Path).", "dags", form=FOLDER
    )
    folder: str = setting(
        "Our folder below that one: nothing else of the bucket is written.",
        "lake",
        form=NAME,
    )


@dataclass(frozen=True)
class EnvironmentSpec:
    """Buckets, roles and network of one environment (`environments/<name>.yml`)."""

    name: str = setting("Name of the environment and of its file.", example="dev")
    region: str = setting("AWS region.", example="eu-central-1", form=REGION)
    landing: str = setting(
        "Root of the landing files.", example="s3://lake/landing", form=S3_FOLDER
    )
    warehouse: str = setting(
        "Root of the Hudi tables.", example="s3://lake/warehouse", form=S3_FOLDER
    )
    artifacts: str = setting(
        "Root of the releases.", example="s3://lake/artifacts", form=S3_FOLDER
    )
    runs: str = setting(
        ("Root of the reports and other files of runs."),
        example="s3://lake/runs",
        form=S3_FOLDER,
    )
    logs: str = setting("Root of EMR's logs.", example="s3://lake/logs", form=S3_FOLDER)
    cluster: Optional[str] = setting(
        "Name of a file in `clusters/` that all domains use in this environment, "
        "instead of the cluster that they name.",
        None,
        form=NAME,
    )
    service_role: str = setting(
        "EMR service role: its name or ARN.", "EMR_DefaultRole_V2", form=ROLE
    )
    instance_profile: str = setting(
        ("EC2 instance profile of the nodes: its name."),
        "EMR_EC2_DefaultRole",
        form=ROLE_NAME,
    )
    runtime_role: Optional[str] = setting(
        "ARN of the role that steps run as, for domains that `runtime_roles` does not "
        "name; if left out, the instance role.",
        None,
        form=ROLE_ARN,
    )
    runtime_roles: Tuple[Tuple[str, str], ...] = setting(
        "ARNs of the roles that steps run as, by domain.",
        (),
        example={"moma": "arn:aws:iam::111122223333:role/lake-moma"},
        form=ROLE_ARN,
    )
    break_glass_role: Optional[str] = setting(
        "ARN of the role for emergencies: besides the roles of steps the only one that "
        "may change files of tables; if left out, `lake-<environment>-break-glass`.",
        None,
        example="arn:aws:iam::111122223333:role/lake-dev-break-glass",
        form=ROLE_ARN,
    )
    permissions_boundary: Optional[str] = setting(
        "ARN of the managed policy that bounds what each role of the templates may do, "
        "where the account asks for one.",
        None,
        example="arn:aws:iam::111122223333:policy/boundary",
        form=POLICY_ARN,
    )
    role_path: str = setting(
        "Path of the roles that the templates make. With another one than `/`, write "
        "`service_role` and the runtime roles as ARNs that have it.",
        "/",
        example="/lake/",
        form=ROLE_PATH,
    )
    security_configuration: Optional[str] = setting(
        "EMR security configuration; required with a runtime role, and must enable it.",
        None,
    )
    network: Optional[OwnNetwork] = setting(
        "The network to use, where the layer `network` is not to make one.", None
    )
    subnets: Tuple[str, ...] = setting(
        "Subnets of the clusters: instance fleets use the best one, instance groups "
        "the first.",
        (),
        form=SUBNET,
    )
    security_groups: Optional[SecurityGroups] = setting(
        "Security groups of the nodes; if left out, EMR creates its own.", None
    )
    custom_ami: Optional[str] = setting(
        "AMI that every node starts from, made from Amazon Linux 2023 for the nodes' "
        "processors; if left out, the one of the EMR release.",
        None,
        example="ami-0123456789abcdef0",
        form=AMI,
    )
    log_encryption_kms_key_id: Optional[str] = setting(
        "ARN of the KMS key that encrypts EMR's logs.", None, form=KMS_KEY
    )
    s3_encryption_kms_key_id: Optional[str] = setting(
        "ARN of the KMS key that encrypts Spark's writes to S3; if left out, the "
        "bucket's default encryption applies.",
        None,
        form=KMS_KEY,
    )
    tags: Tuple[Tuple[str, str], ...] = setting(
        "Tags of every cluster (up to 20); tags in the cluster's file take precedence.",
        (),
    )
    reaper_schedule: Optional[str] = setting(
        "Cron text of `lake_reaper`, which terminates orphaned clusters; if left out, "
        "only manual runs.",
        None,
        example="*/15 * * * *",
        form=CRON,
    )
    clusters_at_once: Optional[int] = setting(
        "Number of clusters that may be there at once; further runs wait for their turn. "
        "If left out, there is no limit. To stop runs, pause their DAGs.",
        None,
        example=10,
        limits=Limits(1),
    )
    alarm_topic: Optional[str] = setting(
        "ARN of the SNS topic for alarms: clusters that could not be terminated, the "
        "budget, a scheduler that stopped.",
        None,
        form=SNS_TOPIC,
    )
    erase_secret: Optional[str] = setting(
        "Name of the SSM parameter (SecureString) with the secret for the keyed "
        "hashes of erased keys, or a JSON list of its versions, the newest first; "
        "required for erase runs.",
        None,
        example="/lake/dev/erase",
    )

    readable_as: Tuple[ReadableAs, ...] = setting(
        "Formats that readers of other engines find tables in whose spec leaves out "
        "`storage.readable_as`.",
        (),
        example=["iceberg", "delta"],
    )
    connections: Tuple[Tuple[str, Connection], ...] = setting(
        "Servers that landing files are pulled from, by the names that tables use.",
        (),
        example={
            "shop_db": {
                "kind": "postgresql",
                "host": "shop.example.internal",
                "database": "shop",
                "secret": "lake/dev/shop",
                "domains": ["shop"],
            }
        },
    )
    jars: Tuple[str, ...] = setting(
        "s3:// URIs of jars for Spark steps, such as database drivers.",
        (),
        example=["s3://lake/artifacts/jars/postgresql-42.7.4.jar"],
        form=JAR,
    )

    landing_roots: Tuple[Tuple[str, LandingRoot], ...] = setting(
        "Other places of landing files, by a name of your own.",
        (),
        example={
            "partner": {"uri": "s3://partner-drop/out", "used_by": ["sales.orders"]}
        },
    )
    airflow: Optional[SharedAirflow] = setting(
        "The MWAA environment of others to put the DAGs into, where the layer `mwaa` is "
        "not to make one.",
        None,
    )

    def runtime_role_of(self, domain: str) -> Optional[str]:
        """Return the ARN of the role that a domain's steps run as, if there is one."""
        return dict(self.runtime_roles).get(domain, self.runtime_role)
