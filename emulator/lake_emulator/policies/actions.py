"""The IAM actions that AWS checks for a call, each with its resource and its keys.

Calls are as `calls.about` describes them, so that a call that is being made and one
that was recorded are judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Mapping, Sequence

from lake_emulator.policies.conditions import Value
from lake_emulator.policies.evaluator import Asked

ACTIONS = {
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "s3:CopyObject": "s3:PutObject",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:DeleteBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:DeleteBucketLifecycle": "s3:PutLifecycleConfiguration",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:GetBucketLifecycle": "s3:GetLifecycleConfiguration",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "s3:ListObjects": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListParts": "s3:ListMultipartUploadParts",
    "s3:PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:PutBucketLifecycle": "s3:PutLifecycleConfiguration",
    "s3:UploadPart": "s3:PutObject",
    "s3:UploadPartCopy": "s3:PutObject",
}
"""Operations whose action has another name."""

OF_VERSIONS = {
    "s3:DeleteObject": "s3:DeleteObjectVersion",
    "s3:GetObject": "s3:GetObjectVersion",
}
"""Actions that have another name where a version is asked for."""

DECRYPTING = (
    "GetObject",
    "CopyObject",
    "UploadPartCopy",
    "UploadPart",
    "CompleteMultipartUpload",
)
"""Operations of S3 that read under the key: the object, the source, earlier parts."""

LISTS = ("s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:ListBucketVersions")
TABLES = ("GetTables", "SearchTables")
"""Calls of Glue on all tables of a database."""

NEEDS = {
    "elasticmapreduce:RunJobFlow": (
        "elasticmapreduce:AddTags",
        "elasticmapreduce:PutAutoTerminationPolicy",
        "elasticmapreduce:PutManagedScalingPolicy",
        "iam:PassRole",
    ),
}
"""What AWS checks next to the action itself, by what our requests contain."""

_EMR_POLICIES = {
    "elasticmapreduce:PutAutoTerminationPolicy": "AutoTerminationPolicy",
    "elasticmapreduce:PutManagedScalingPolicy": "ManagedScalingPolicy",
}
_PASSED = {
    "ServiceRole": "elasticmapreduce.amazonaws.com",
    "JobFlowRole": "ec2.amazonaws.com",
}
_NAMES = {
    "dynamodb": "table/{}",
    "sns": "{}",
    "ssm": "parameter/{}",
    "secretsmanager": "secret:{}-a1B2c3",  # six characters follow the name
}


@dataclass(frozen=True)
class Account:
    """What calls are made of: the account, its keys, and the tags of its clusters."""

    id: str
    region: str
    encryption: Mapping[str, str]
    tags_of: Callable[[str], Mapping[str, str]]

    def asked(
        self, service: str, operation: str, about: Mapping[str, Any]
    ) -> Iterator[Asked]:
        """Yield every action that AWS checks for a call."""
        thing = about.get("thing", "")
        if service == "s3":
            yield from self._of_s3(operation, about)
        elif service == "elasticmapreduce":
            yield from self._of_emr(operation, about)
        elif service == "glue":
            yield from self._of_glue(operation, thing)
            if role := about.get("role"):
                yield self._passing(role, "glue.amazonaws.com")
        elif service == "sts":
            if operation != "GetCallerIdentity":  # needs no permission
                yield Asked.of(f"sts:{operation}", thing or "*")
        elif service in _NAMES:
            arn = self._named(service, thing)
            yield Asked.of(f"{service}:{operation}", arn)
            if (service, operation) == ("sns", "Publish"):
                for action in ("Decrypt", "GenerateDataKey"):
                    yield from self._of_key(action, arn, "sns")
        else:
            yield Asked.of(f"{service}:{operation}", "*")

    def listing(self, bucket: str, key: str) -> Asked:
        """Return the request that decides whether a missing object is denied or not found."""
        context = {"s3:prefix": key}
        return Asked.of("s3:ListBucket", f"arn:aws:s3:::{bucket}", context)

    def arn(self, service: str, thing: str) -> str:
        """Return the ARN of a thing of this account and region."""
        return f"arn:aws:{service}:{self.region}:{self.id}:{thing}"

    def _named(self, service: str, thing: str) -> str:
        if not thing:
            return "*"
        if thing.startswith("arn:"):
            return thing
        return self.arn(service, _NAMES[service].format(thing.lstrip("/")))

    def _of_s3(self, operation: str, about: Mapping[str, str]) -> Iterator[Asked]:
        thing = about["thing"]
        action = ACTIONS.get(f"s3:{operation}", f"s3:{operation}")
        if "version" in about:
            action = OF_VERSIONS.get(action, action)
        if not thing:
            yield Asked.of("s3:ListAllMyBuckets", "*")
            return
        arn = f"arn:aws:s3:::{thing}"
        names = ("prefix", "delimiter") if action in LISTS else ()
        yield Asked.of(action, arn, {f"s3:{n}": about[n] for n in names if n in about})
        source = about.get("source")
        if source:
            read = "s3:GetObject"
            if "source_version" in about:
                read = OF_VERSIONS[read]
            yield Asked.of(read, f"arn:aws:s3:::{source}")
        if operation in DECRYPTING or "checksum" in about:
            read = f"arn:aws:s3:::{source or thing}"
            yield from self._of_key("Decrypt", read, "s3")
        if action == "s3:PutObject":
            yield from self._of_key("GenerateDataKey", arn, "s3", about.get("key"))

    def _of_key(
        self, action: str, arn: str, service: str, key: str | None = None
    ) -> Iterator[Asked]:
        """Yield the use of a bucket's or topic's key by a service, for the caller."""
        key = key or self.encryption.get(arn.partition("/")[0])
        if key:
            via = {"kms:ViaService": f"{service}.{self.region}.amazonaws.com"}
            yield Asked.of(f"kms:{action}", key, via)

    def _of_glue(self, operation: str, thing: str) -> Iterator[Asked]:
        """Yield the action on the catalogue, the database and the table: each is checked."""
        database, _, table = thing.partition("/")
        things = ["catalog", f"database/{database or '*'}"]
        if table or operation in TABLES:
            things.append(f"table/{database}/{table or '*'}")
        for each in things:
            yield Asked.of(f"glue:{operation}", self.arn("glue", each))

    def _of_emr(self, operation: str, about: Mapping[str, Any]) -> Iterator[Asked]:
        action, request = f"elasticmapreduce:{operation}", about.get("request", {})
        if operation == "ListClusters":
            yield Asked.of(action, "*")
        elif operation == "RunJobFlow":
            yield from self._of_a_new_cluster(request)
        else:
            cluster = about["thing"]
            context: Dict[str, Value] = {
                **_tags("ResourceTag", self.tags_of(cluster)),
                **_tags("RequestTag", _pairs(request.get("Tags", ()))),
            }
            if request.get("Tags"):
                context["aws:TagKeys"] = tuple(_pairs(request["Tags"]))
            if role := request.get("ExecutionRoleArn"):
                context["elasticmapreduce:ExecutionRoleArn"] = role
            arn = self.arn("elasticmapreduce", f"cluster/{cluster}")
            yield Asked.of(action, arn, context)

    def _of_a_new_cluster(self, request: Mapping[str, Any]) -> Iterator[Asked]:
        tags = _pairs(request.get("Tags", ()))
        asks: Dict[str, Value] = _tags("RequestTag", tags)
        if tags:
            asks["aws:TagKeys"] = tuple(tags)
        action = "elasticmapreduce:RunJobFlow"
        yield Asked.of(action, "*", asks)
        new, has = self.arn("elasticmapreduce", "cluster/*"), _tags("ResourceTag", tags)
        for needed in NEEDS[action]:
            member = _EMR_POLICIES.get(needed, "Tags")
            if needed != "iam:PassRole" and request.get(member):
                yield Asked.of(needed, new, {**asks, **has})
        for member, service in _PASSED.items():
            if role := request.get(member):
                yield self._passing(role, service)

    def _passing(self, role: str, service: str) -> Asked:
        arn = f"arn:aws:iam::{self.id}:role/{role.split('/')[-1]}"
        return Asked.of("iam:PassRole", arn, {"iam:PassedToService": service})


def _tags(kind: str, tags: Mapping[str, str]) -> Dict[str, Value]:
    """Return tags as condition keys, by EMR's name and by the global one."""
    return {
        f"{prefix}:{kind}/{name}": value
        for prefix in ("aws", "elasticmapreduce")
        for name, value in tags.items()
    }


def _pairs(tags: Sequence[Mapping[str, str]]) -> Dict[str, str]:
    return {each.get("Key", ""): each.get("Value", "") for each in tags}
