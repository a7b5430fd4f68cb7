"""Policy documents as statements that can be compared with a request.

What is not known here (an operator, a condition key, a policy variable) is an error
that names it: a policy is judged as AWS does, or not at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import (
    AbstractSet,
    Any,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from lake_emulator.policies.conditions import (
    Condition,
    Context,
    condition,
    is_arn_like,
    pattern,
)

ANYBODY = "*"
EVERYWHERE = frozenset(
    {
        "aws:calledvia",
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalisawsservice",
        "aws:principalisawsservice",
        "aws:requestedregion",
        "aws:resourceaccount",
        "aws:securetransport",
        "aws:sourcevpce",
        "aws:viaawsservice",
    }
)
"""Condition keys that every judged request has, or lacks as on AWS."""

EMR_TAGS = r"(aws|elasticmapreduce):(request|resource)tag/.+"
KEYS = {
    "dynamodb": "",
    "elasticmapreduce": rf"{EMR_TAGS}|aws:tagkeys|elasticmapreduce:executionrolearn",
    "glue": "",
    "iam": r"iam:passedtoservice",
    "kms": r"kms:viaservice|kms:grantisforawsresource",
    "s3": r"s3:(prefix|delimiter)",
    "secretsmanager": "",
    "sns": "",
    "ssm": "",
    "sts": "",
}
"""The services that are judged, each with a pattern of its own condition keys."""

_MEMBERS = frozenset(
    {"Sid", "Effect", "Principal", "Action", "NotAction", "Resource", "NotResource"}
    | {"Condition"}
)


_PRINCIPAL = re.compile(
    r"\*|\d{12}|arn:aws:iam::\d{12}:(root|role/[^*?]+|user/[^*?]+)"
    r"|arn:aws:sts::\d{12}:assumed-role/[^*?/]+/[^*?/]+"
)
"""Everybody, an account, a role with all of its sessions, a user, or one session."""


class PolicyError(ValueError):
    """A policy has an operator, a key or a form that the emulator cannot judge.

    Fix: Correct the policy; if AWS knows what the message names, add it to
    `lake_emulator/policies`.
    """


@dataclass(frozen=True)
class Statement:
    """One statement; the policy of a role speaks to the role, whose `principals` are `*`."""

    sid: str
    is_deny: bool
    actions: Tuple[str, ...]
    but_actions: bool
    resources: Tuple[str, ...]
    but_resources: bool
    conditions: Tuple[Condition, ...]
    principals: Tuple[str, ...] = (ANYBODY,)

    def fits(
        self, names: AbstractSet[str], action: str, arn: str, context: Context
    ) -> bool:
        """Return whether it speaks of this request of a caller with these names."""
        if not names & {*self.principals}:
            return False
        acts = any(
            pattern(each, re.IGNORECASE).fullmatch(action) for each in self.actions
        )
        if acts == self.but_actions:
            return False
        lies = any(is_arn_like(arn, each) for each in self.resources)
        if lies == self.but_resources:
            return False
        return all(each.holds(context) for each in self.conditions)


class Kind(Enum):
    """What a policy is attached to; its value says which principals it may have."""

    ROLE = "no Principal: it speaks to its role"
    RESOURCE = "a Principal"
    GATEWAY = 'the Principal "*", and names others by a condition on aws:PrincipalArn'


def statements(
    document: Mapping[str, Any], where: str, kind: Kind = Kind.ROLE
) -> Tuple[Statement, ...]:
    """Parse a document; PolicyError for what is not known.

    Left out are statements that can never speak of a judged call: for services of AWS
    as principals, and on actions of services that are not judged.
    """
    found = document.get("Statement", ())
    listed = [found] if isinstance(found, Mapping) else found
    return tuple(_statements(listed, where, kind))


def _statements(
    listed: Sequence[Mapping[str, Any]], where: str, kind: Kind
) -> Iterator[Statement]:
    for number, each in enumerate(listed, start=1):
        place = f"{where}, statement {each.get('Sid') or number}"
        try:
            parsed = _statement(each, kind)
        except ValueError as error:
            raise PolicyError(
                f"{place}: {error}: the emulator does not know it. Add it to"
                " lake_emulator/policies, or start without this policy."
            ) from None
        if parsed is not None:
            yield parsed


def _statement(raw: Mapping[str, Any], kind: Kind) -> Optional[Statement]:
    if unknown := sorted(set(raw) - _MEMBERS):
        raise ValueError(f"member {', '.join(unknown)}")
    if raw.get("Effect") not in ("Allow", "Deny"):
        raise ValueError(f"effect {raw.get('Effect')!r}")
    principals = _principals(raw, kind)
    but_actions, actions = _either(raw, "Action", "NotAction")
    but_resources, resources = _either(raw, "Resource", "NotResource")
    services = _services(actions, but_actions)
    if not services or not principals:
        return None
    for each in resources:
        _check_resource(each)
    return Statement(
        sid=raw.get("Sid", ""),
        is_deny=raw["Effect"] == "Deny",
        actions=actions,
        but_actions=but_actions,
        resources=resources,
        but_resources=but_resources,
        conditions=tuple(_conditions(raw.get("Condition", {}), services)),
        principals=principals,
    )


def _either(
    raw: Mapping[str, Any], name: str, opposite: str
) -> Tuple[bool, Tuple[str, ...]]:
    """Return whether the opposite is there, and the values of the one that is."""
    if (name in raw) == (opposite in raw):
        raise ValueError(f"one of {name} and {opposite} must be there, not both")
    is_opposite = opposite in raw
    return is_opposite, texts(raw[opposite if is_opposite else name])


def _principals(raw: Mapping[str, Any], kind: Kind) -> Tuple[str, ...]:
    """Return ARNs, accounts and `*`; services of AWS call nothing here."""
    value = raw.get("Principal")
    if (value is None) != (kind is Kind.ROLE):
        raise ValueError(f"principal {value!r} where it has {kind.value}")
    if value in (None, ANYBODY):
        return (ANYBODY,)
    if not isinstance(value, Mapping) or not value:
        raise ValueError(f"principal {value!r}")
    if unknown := sorted(set(value) - {"AWS", "Service"}):
        raise ValueError(f"principal {', '.join(unknown)}")
    found = texts(value.get("AWS", ()))
    for each in found:
        if not _PRINCIPAL.fullmatch(each):
            raise ValueError(f"principal {each!r}")
        if kind is Kind.GATEWAY and each != ANYBODY:
            raise ValueError(f"principal {each!r} where it has {kind.value}")
    return found


def _services(actions: Sequence[str], but_actions: bool) -> List[str]:
    """Return the judged services that the actions can belong to."""
    if but_actions:
        return list(KEYS)
    for each in actions:
        if each != "*" and not re.fullmatch(r"[A-Za-z0-9*?-]+:[A-Za-z0-9*?]+", each):
            raise ValueError(f"action {each!r}")
    starts = [pattern(each.partition(":")[0], re.IGNORECASE) for each in actions]
    return [name for name in KEYS if any(start.fullmatch(name) for start in starts)]


def _conditions(raw: Mapping[str, Any], services: Sequence[str]) -> Iterator[Condition]:
    for operator, tests in raw.items():
        for key, values in tests.items():
            for service in services:
                _check_key(key, service)
            yield condition(operator, key, [_plain(each) for each in texts(values)])


def _check_key(key: str, service: str) -> None:
    """Raise ValueError for an unknown key; one of another service is absent, as on AWS."""
    name = key.lower()
    prefix = name.partition(":")[0]
    known = KEYS.get(service if prefix == "aws" else prefix, "")
    if name not in EVERYWHERE and not re.fullmatch(known, name):
        raise ValueError(f"condition key {key} on actions of {service}")


def _check_resource(text: str) -> None:
    if text != "*" and text.count(":") < 5:
        raise ValueError(f"resource {text!r}")
    _plain(text)


def _plain(text: str) -> str:
    if found := re.search(r"\$\{[^}]*\}", text):
        raise ValueError(f"policy variable {found[0]}")
    return text


def texts(value: Any) -> Tuple[str, ...]:
    """Return the texts of a value that may be one, or a list with lists in it."""
    if isinstance(value, bool):
        return (str(value).lower(),)
    if isinstance(value, (list, tuple)):
        return tuple(text for each in value for text in texts(each))
    return (str(value),)
