"""Grants of Lake Formation, in CloudFormation's form."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Tuple

Resource = Dict[str, Any]

GRANT = "AWS::LakeFormation::PrincipalPermissions"


def grant(
    holder: Any, thing: Resource, permissions: List[str], **more: Any
) -> Resource:
    """Return a grant to a principal, given by its ARN; `more` stands next to its type."""
    return {
        "Type": GRANT,
        **more,
        "Properties": {
            "Principal": {"DataLakePrincipalIdentifier": holder},
            "Resource": thing,
            "Permissions": permissions,
            "PermissionsWithGrantOption": [],
        },
    }


def in_turn(resources: Dict[str, Resource]) -> Dict[str, Resource]:
    """Return the resources, with each grant after the one before it.

    CloudFormation would ask for many at once, of which Lake Formation refuses some
    (ConcurrentModificationException, aws/aws-cdk#36215).
    """
    return dict(_in_turn(resources))


def _in_turn(resources: Dict[str, Resource]) -> Iterator[Tuple[str, Resource]]:
    before = ""
    for name, each in resources.items():
        if each["Type"] != GRANT:
            yield name, each
            continue
        after = [each["DependsOn"]] if "DependsOn" in each else []
        after += [before] if before else []
        yield name, {**each, "DependsOn": after} if after else each
        before = name
