"""Checks on what the probing step found where it ran."""

from __future__ import annotations

from typing import Any

from lake_acceptance.check import Check, CheckFailed
from lake_acceptance.subject import DOMAIN, Subject
from lake_infra.resource_names import last_part


def region(subject: Subject) -> str:
    """Compare the region of the step's clients with the environment's."""
    found, wanted = _fact(subject, "region"), subject.environment.region
    if found != wanted:
        raise CheckFailed(
            f"the step's clients work in the region {found}, not {wanted}.",
            "Deploy a release whose steps are given the region.",
        )
    return str(found)


def identity(subject: Subject) -> str:
    """Compare the role of the step with the domain's runtime role."""
    found = _fact(subject, "identity")
    role = subject.environment.runtime_role_of(DOMAIN)
    if role and f":assumed-role/{last_part(role)}/" not in found:
        raise CheckFailed(
            f"the step runs as {found}, not as {role}.",
            "The security configuration must enable runtime roles.",
        )
    return str(found)


def jars(subject: Subject) -> str:
    """Look for the classes of Hudi and of Spark's Avro reader."""
    found = _fact(subject, "classes")
    lacking = [name for name, is_there in found.items() if not is_there]
    if lacking:
        raise CheckFailed(
            f"not on the step's class path: {', '.join(lacking)}.",
            f"The jars of {subject.cluster.release_label} are elsewhere: choose a "
            "release that docs/reference lists.",
        )
    return f"{len(found)} classes"


def parallelism(subject: Subject) -> str:
    """Compare the shuffle partitions with the cores that executors brought."""
    found = _fact(subject, "parallelism")
    words = (
        f"{found['shuffle_partitions']} shuffle partitions, {found['default']} cores "
        f"of {found['executors']} executors"
    )
    if found["shuffle_partitions"] < found["default"]:
        raise CheckFailed(
            f"{words}: nodes would be idle in each shuffle.",
            "Take spark.sql.shuffle.partitions out of the cluster's file, or raise it.",
        )
    return words


def conditional_write(subject: Subject) -> str:
    """Look whether S3 refused to write an object that is there."""
    if _fact(subject, "conditional_write") is not True:
        raise CheckFailed(
            "S3 wrote an object over one that had to be absent (If-None-Match: *).",
            "Leases do not hold on this store: it must be S3 itself.",
        )
    return "the second write was refused"


def encryption(subject: Subject) -> str:
    """Compare the encryption of what a step writes with the environment's key."""
    found, key = _fact(subject, "encryption"), subject.deployed.s3_encryption_kms_key_id
    if key and found["by"] != "aws:kms":
        raise CheckFailed(
            f"what a step writes is encrypted by {found['by']}, not by {key}.",
            "Make it the default encryption of the bucket of `runs`.",
        )
    return f"{found['by']} {found['key']}".strip()


def secret(subject: Subject) -> str:
    """Look whether the step could read the secret that the environment names."""
    name, length = subject.environment.erase_secret, _fact(subject, "secret")
    if name is None:
        return "the environment names no erase_secret"
    if not length:
        raise CheckFailed(f"{name} is empty.", "Put a long random text into it.")
    return f"{name}: {length} bytes, whose value nobody read"


def _fact(subject: Subject, name: str) -> Any:
    fact = subject.facts[name]
    if "error" in fact:
        raise CheckFailed(
            f"the step could not answer: {fact['error']}.",
            "Compare the policy of its role, and the network's endpoints, with the "
            "action that is named.",
        )
    return fact["value"]


_ONE_IDENTITY = "the emulator's steps share one identity"
CHECKS = (
    Check("region", "Does a step know its region?", region, ("step",)),
    Check(
        "identity",
        "Does a step run as its domain's role?",
        identity,
        ("step",),
        only_in_account=_ONE_IDENTITY,
    ),
    Check("jars", "Are the jars where steps look for them?", jars, ("step",)),
    Check("parallelism", "Does a shuffle use all cores?", parallelism, ("step",)),
    Check(
        "conditional-write",
        "Does S3 refuse to write over an object?",
        conditional_write,
        ("step",),
    ),
    Check(
        "encryption", "Is what steps write encrypted by the key?", encryption, ("step",)
    ),
    Check("secret", "Can a step read its secret?", secret, ("step",)),
)
