"""Statements of policies on the lake's objects, with CloudFormation's functions."""

from __future__ import annotations

from typing import Any, Dict, Sequence

from lake_infra.resource_names import Root

Statement = Dict[str, Any]


def policy_document(statements: Sequence[Statement]) -> Dict[str, Any]:
    """Return a policy of these statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def objects(
    sid: str, actions: Sequence[str], root: Root, keys: Sequence[str]
) -> Statement:
    """Return a statement that allows actions on objects of a root's bucket."""
    return allow(sid, actions, [in_bucket(f"{root.bucket}/{key}") for key in keys])


def allow(sid: str, to: Sequence[str], resources: Sequence[Any]) -> Statement:
    """Return a statement that allows actions on resources."""
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(to),
        "Resource": list(resources),
    }


def in_bucket(place: str) -> Dict[str, str]:
    """Return the ARN of `bucket/key`."""
    return sub(f"arn:${{AWS::Partition}}:s3:::{place}")


def listing(sid: str, root: Root, prefixes: Sequence[str]) -> Statement:
    """Return a statement that allows to list a bucket below prefixes."""
    return _by_prefix(sid, "s3:ListBucket", root, prefixes)


def old_versions(sid: str, root: Root, prefixes: Sequence[str]) -> Statement:
    """Return a statement that allows to list old versions below prefixes."""
    return _by_prefix(sid, "s3:ListBucketVersions", root, prefixes)


def _by_prefix(sid: str, action: str, root: Root, prefixes: Sequence[str]) -> Statement:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": action,
        "Resource": bucket(root),
        "Condition": {"StringLike": {"s3:prefix": list(prefixes)}},
    }


def bucket(root: Root) -> Dict[str, str]:
    """Return the ARN of a root's bucket."""
    return sub(f"arn:${{AWS::Partition}}:s3:::{root.bucket}")


def arn(service: str, thing: str) -> Dict[str, str]:
    """Return an ARN of this account and region."""
    return sub(
        f"arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{thing}"
    )


def sub(text: str) -> Dict[str, str]:
    """Return a text whose `${names}` CloudFormation fills in."""
    return {"Fn::Sub": text}
