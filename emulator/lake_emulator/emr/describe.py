"""Clusters and steps in the shapes of EMR's API."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Optional

from lake_emulator.emr.models import Cluster, Step

ACCOUNT = "123456789012"


def arn(cluster: Cluster, region: str) -> str:
    return f"arn:aws:elasticmapreduce:{region}:{ACCOUNT}:cluster/{cluster.id}"


def present(**members: Any) -> dict[str, Any]:
    """Return the members that have a value; EMR leaves the others out."""
    return {name: value for name, value in members.items() if value is not None}


def timestamp(seconds: Optional[float]) -> Optional[datetime]:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc)


def cluster_status(cluster: Cluster) -> dict[str, Any]:
    return {
        "State": cluster.state,
        "StateChangeReason": dict(cluster.reason),
        "Timeline": present(
            CreationDateTime=timestamp(cluster.created),
            ReadyDateTime=timestamp(cluster.ready),
            EndDateTime=timestamp(cluster.ended),
        ),
    }


def cluster_summary(cluster: Cluster, region: str) -> dict[str, Any]:
    return {
        "Id": cluster.id,
        "Name": cluster.name,
        "Status": cluster_status(cluster),
        "NormalizedInstanceHours": 0,
        "ClusterArn": arn(cluster, region),
    }


def cluster_details(cluster: Cluster, region: str) -> dict[str, Any]:
    said = cluster.described
    return {
        **cluster_summary(cluster, region),
        **present(
            LogUri=cluster.log_uri,
            ReleaseLabel=cluster.release_label,
            AutoTerminate=not cluster.keep_alive,
            TerminationProtected=cluster.protected,
            UnhealthyNodeReplacement=False,
            VisibleToAllUsers=said.get("VisibleToAllUsers", True),
            Applications=said.get("Applications", []),
            Tags=tags(cluster),
            ServiceRole=said.get("ServiceRole"),
            LogEncryptionKmsKeyId=said.get("LogEncryptionKmsKeyId"),
            SecurityConfiguration=said.get("SecurityConfiguration"),
            ScaleDownBehavior=said.get("ScaleDownBehavior"),
            EbsRootVolumeSize=said.get("EbsRootVolumeSize"),
            MasterPublicDnsName="localhost" if cluster.ready else None,
            Configurations=cluster.configurations,
            StepConcurrencyLevel=cluster.concurrency,
            InstanceCollectionType=_collection(cluster),
            Ec2InstanceAttributes=_instance_attributes(cluster),
        ),
    }


def tags(cluster: Cluster) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in cluster.tags.items()]


def _collection(cluster: Cluster) -> str:
    fleets = cluster.described.get("Instances", {}).get("InstanceFleets")
    return "INSTANCE_FLEET" if fleets else "INSTANCE_GROUP"


def _instance_attributes(cluster: Cluster) -> dict[str, Any]:
    instances = cluster.described.get("Instances", {})
    subnets = instances.get("Ec2SubnetIds") or [instances.get("Ec2SubnetId")]
    return present(
        Ec2KeyName=instances.get("Ec2KeyName"),
        Ec2SubnetId=subnets[0],
        IamInstanceProfile=cluster.described.get("JobFlowRole"),
        EmrManagedMasterSecurityGroup=instances.get("EmrManagedMasterSecurityGroup"),
        EmrManagedSlaveSecurityGroup=instances.get("EmrManagedSlaveSecurityGroup"),
        ServiceAccessSecurityGroup=instances.get("ServiceAccessSecurityGroup"),
    )


def step_summary(step: Step) -> dict[str, Any]:
    return {
        "Id": step.id,
        "Name": step.name,
        "Config": present(
            Jar=step.jar,
            Properties=step.properties,
            MainClass=step.main_class,
            Args=step.args,
        ),
        "ActionOnFailure": step.action_on_failure,
        "Status": present(
            State=step.state,
            StateChangeReason={},
            FailureDetails=step.failure,
            Timeline=present(
                CreationDateTime=timestamp(step.created),
                StartDateTime=timestamp(step.started),
                EndDateTime=timestamp(step.ended),
            ),
        ),
    }


def step_details(step: Step) -> dict[str, Any]:
    return {**step_summary(step), **present(ExecutionRoleArn=step.role)}
