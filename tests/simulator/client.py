"""The boto3 clients of the simulated account, with the faults of a real one."""

from __future__ import annotations

import hashlib
import io
import json
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, List, Tuple

import botocore.session
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    ReadTimeoutError,
)
from botocore.model import ServiceModel

from lake_airflow.emr.job_flow import ALIVE, ENDED, ENDING
from tests.simulator.cloud import Cloud, Cluster, Step

READ_SECONDS, WRITE_SECONDS = 0.2, 0.5
CONNECTION = "EndpointConnectionError"
READ_FAULTS = ("ThrottlingException", "ExpiredTokenException", CONNECTION)
FORGETS = 0.004
"""How likely EMR answers that it will end a cluster, and does not."""
EVER = datetime.min.replace(tzinfo=timezone.utc)
NOT_VALID = timedelta(seconds=20)
"""So long after its creation EMR may not know a cluster."""


@lru_cache(maxsize=None)
def emr_model() -> ServiceModel:
    """AWS's own model of EMR."""
    return botocore.session.Session().get_service_model("emr")


class Killed(BaseException):
    """The worker of a task is gone, with whatever it was doing."""


def refused(code: str, action: str) -> ClientError:
    """An error as botocore raises it."""
    return ClientError({"Error": {"Code": code, "Message": "simulated"}}, action)


class Pages:
    """One page that holds all."""

    def __init__(self, call: Callable[..., Dict[str, Any]]) -> None:
        self._call = call

    def paginate(self, **request: Any) -> Iterator[Dict[str, Any]]:
        yield self._call(**request)


class EmrClient:
    """EMR; `repeats` as botocore does by default, after a reply that got lost."""

    def __init__(self, cloud: Cloud, *, repeats: bool) -> None:
        self._cloud = cloud
        self._repeats = repeats
        # As of a resource, which is what hooks take for what is no BaseClient.
        here = SimpleNamespace(region_name="eu-central-1", partition="aws")
        self.meta = SimpleNamespace(
            client=SimpleNamespace(meta=here), service_model=emr_model()
        )

    def _read(self) -> None:
        self._cloud.pass_time(READ_SECONDS)
        self._may_fail()
        if self._cloud.random.random() < 0.002:
            raise Killed

    def _may_fail(self) -> None:
        """For seconds or for a quarter of an hour, all reads alike."""
        cloud = self._cloud
        if cloud.now >= cloud.reads_fail[0] and cloud.happens("reads fail", 0.002):
            lasts = timedelta(seconds=cloud.faults.choice([5, 60, 300, 900]))
            cloud.reads_fail = (cloud.now + lasts, cloud.faults.choice(READ_FAULTS))
        until, fault = cloud.reads_fail
        if cloud.now >= until:
            return
        cloud.pass_time(7)  # botocore asks again by itself
        if fault == CONNECTION:
            raise EndpointConnectionError(endpoint_url="emr")
        raise refused(fault, "Read")

    def _write(self, action: str, effect: Callable[[], Any]) -> Any:
        chance = self._cloud.random.random
        self._cloud.pass_time(WRITE_SECONDS)
        if chance() < 0.05 and not self._repeats:  # botocore's own retries see to it
            raise refused("ThrottlingException", action)
        if chance() < 0.01:
            raise Killed
        if chance() < 0.06:
            return self._without_reply(effect)
        done = effect()
        if chance() < 0.01:
            raise Killed
        return done

    def _without_reply(self, effect: Callable[[], Any]) -> Any:
        if self._cloud.random.random() < 0.5:
            effect()
        self._cloud.pass_time(60)
        if self._repeats:
            return effect()
        raise ReadTimeoutError(endpoint_url="emr")

    def get_paginator(self, name: str) -> Pages:
        return Pages(getattr(self, name))

    def run_job_flow(self, **request: Any) -> Dict[str, Any]:
        def add() -> Dict[str, Any]:
            made = self._cloud.add_cluster(request)
            if not self._repeats and self._cloud.happens("two tries at once", 0.02):
                self._cloud.add_cluster(request).is_twin = True
            return _ok(JobFlowId=made.id)

        return self._write("RunJobFlow", add)

    def add_job_flow_steps(
        self, *, JobFlowId: str, Steps: List[Dict[str, Any]], **_: Any
    ) -> Dict[str, Any]:
        def add() -> Dict[str, Any]:
            cluster = self._cloud.clusters[JobFlowId]
            if cluster.told_to_end:
                raise refused("ValidationException", "AddJobFlowSteps")
            added = [
                self._cloud.add_step(cluster, each["Name"], _args(each))
                for each in Steps
            ]
            return _ok(StepIds=[each.id for each in added])

        return self._write("AddJobFlowSteps", add)

    def terminate_job_flows(self, *, JobFlowIds: List[str]) -> Dict[str, Any]:
        self._cloud.pass_time(WRITE_SECONDS)
        if self._cloud.random.random() < 0.05:
            raise refused("InternalServerError", "TerminateJobFlows")
        if self._cloud.happens("a termination that EMR forgets", FORGETS):
            for each in JobFlowIds:
                self._cloud.clusters[each].forgotten += 1
            return _ok()
        for each in JobFlowIds:
            if not self._cloud.clusters[each].told_to_end:
                self._cloud.clusters[each].end(self._cloud.now, "")
        return _ok()

    def cancel_steps(
        self, *, ClusterId: str, StepIds: List[str], StepCancellationOption: str
    ) -> Dict[str, Any]:
        by_force = StepCancellationOption == "TERMINATE_PROCESS"
        for step in self._cloud.clusters[ClusterId].steps:
            if step.id in StepIds and not step.is_over:
                step.is_cancelled = True
                if by_force or not (step.is_deaf and step.began):
                    step.close(self._cloud.now, "CANCELLED")
        told = [{"StepId": each, "Status": "SUBMITTED"} for each in StepIds]
        return _ok(CancelStepsInfoList=told)

    def list_clusters(
        self, ClusterStates: Any = (), CreatedAfter: Any = EVER
    ) -> Dict[str, Any]:
        self._read()
        clusters = self._cloud.clusters.values()
        found = [self._told(each) for each in clusters if each.created >= CreatedAfter]
        states = ClusterStates or (*ALIVE, *ENDING, *ENDED)
        wanted = [c for c in found if c["Status"]["State"] in states]
        return {"Clusters": wanted[::-1]}

    def describe_cluster(self, *, ClusterId: str) -> Dict[str, Any]:
        self._read()
        cluster = self._cloud.clusters[ClusterId]
        if self._cloud.now - cluster.created < NOT_VALID:
            if self._cloud.happens("a new cluster is not valid yet", 0.05):
                raise refused("InvalidRequestException", "DescribeCluster")
        return {"Cluster": self._told(cluster)}

    def _told(self, cluster: Cluster) -> Dict[str, Any]:
        return {
            "Id": cluster.id,
            "Name": cluster.request["Name"],
            "Tags": cluster.request.get("Tags", []),
            "LogUri": cluster.request.get("LogUri"),
            "Status": {
                "State": cluster.state(self._cloud.now),
                "StateChangeReason": {"Message": cluster.reason},
                "Timeline": self._timeline(cluster),
            },
        }

    def _timeline(self, cluster: Cluster) -> Dict[str, Any]:
        now, end = self._cloud.now, cluster.ended
        found = {"CreationDateTime": cluster.created}
        if cluster.ready <= min(now, end or now):
            found["ReadyDateTime"] = cluster.ready
        if end and end <= now:
            found["EndDateTime"] = end
        return found

    def list_instances(self, *, ClusterId: str) -> Dict[str, Any]:
        self._read()
        cluster = self._cloud.clusters[ClusterId]
        groups = cluster.request["Instances"]["InstanceGroups"]
        status = {"Timeline": self._timeline(cluster)}
        found = [
            {key: each[key] for key in ("InstanceType", "Market")}
            for each in groups
            for _ in range(each["InstanceCount"])
        ]
        return {"Instances": [{**each, "Status": status} for each in found]}

    def list_steps(self, *, ClusterId: str, **_: Any) -> Dict[str, Any]:
        self._read()
        steps = self._cloud.clusters[ClusterId].steps
        return {"Steps": [_told_step(each) for each in reversed(steps)]}

    def describe_step(self, *, ClusterId: str, StepId: str) -> Dict[str, Any]:
        self._read()
        steps = self._cloud.clusters[ClusterId].steps
        (found,) = [each for each in steps if each.id == StepId]
        return _ok(Step=_told_step(found))


def _args(step: Dict[str, Any]) -> List[str]:
    return step["HadoopJarStep"].get("Args", [])


def _ok(**reply: Any) -> Dict[str, Any]:
    return {"ResponseMetadata": {"HTTPStatusCode": 200}, **reply}


def _told_step(step: Step) -> Dict[str, Any]:
    times = {
        "CreationDateTime": step.created,
        "StartDateTime": step.began,
        "EndDateTime": step.ended,
    }
    status = {"State": step.state, "Timeline": {k: v for k, v in times.items() if v}}
    return {"Id": step.id, "Name": step.name, "Status": status}


class SnsClient:
    """SNS; what arrived goes to `told`, of whom nobody knows that to `unsure`."""

    def __init__(self, cloud: Cloud, told: List[str], unsure: List[str]) -> None:
        self._cloud, self._told, self._unsure = cloud, told, unsure

    def publish(self, *, Message: str, **_: Any) -> Dict[str, Any]:
        chance = self._cloud.random.random
        self._cloud.pass_time(WRITE_SECONDS)
        if chance() < 0.05:
            raise refused("InternalError", "Publish")
        if chance() < 0.01:
            raise Killed
        first_line = json.loads(Message)["default"].split("\n")[0]
        self._told.append(first_line)
        if chance() < 0.01:
            self._unsure.append(first_line)
            raise Killed
        return _ok()


class S3Client:
    """Objects with ETags and conditional writes."""

    def __init__(self, cloud: Cloud, objects: Dict[Tuple[str, str], bytes]) -> None:
        self._cloud = cloud
        self._objects = objects

    def get_object(self, *, Bucket: str, Key: str) -> Dict[str, Any]:
        self._cloud.pass_time(0.05)
        if (Bucket, Key) not in self._objects:
            raise refused("NoSuchKey", "GetObject")
        body = self._objects[Bucket, Key]
        return {"Body": io.BytesIO(body), "ETag": _etag(body)}

    def get_paginator(self, name: str) -> Pages:
        return Pages(getattr(self, name))

    def list_objects_v2(self, *, Bucket: str, Prefix: str) -> Dict[str, Any]:
        self._cloud.pass_time(0.05)
        keys = [key for at, key in self._objects if at == Bucket]
        return {"Contents": [{"Key": k} for k in keys if k.startswith(Prefix)]}

    def put_object(
        self, *, Bucket: str, Key: str, Body: bytes, **more: Any
    ) -> Dict[str, Any]:
        self._cloud.pass_time(0.05)
        there = self._objects.get((Bucket, Key))
        if "IfNoneMatch" in more and there is not None:
            raise refused("PreconditionFailed", "PutObject")
        if "IfMatch" in more and (there is None or _etag(there) != more["IfMatch"]):
            raise refused("PreconditionFailed", "PutObject")
        self._objects[Bucket, Key] = Body
        if "leases/" in Key:
            self._cloud.leases.append((self._cloud.now, json.loads(Body)))
        if {"IfMatch", "IfNoneMatch"} & set(more):
            if self._cloud.happens("a conditional put without its reply", 0.01):
                # What botocore's own second try is answered.
                raise refused("PreconditionFailed", "PutObject")
        return {"ETag": _etag(Body)}


def _etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()
