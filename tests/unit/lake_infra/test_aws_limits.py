"""Lakes of many sizes: their templates keep AWS's limits, or are refused with what to do."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from lake_infra.aws_limits import (
    INLINE_CHARACTERS,
    POLICIES_OF_ROLE,
    POLICY_CHARACTERS,
    TEMPLATE_BYTES,
    TEMPLATE_RESOURCES,
    TRUST_CHARACTERS,
    VALUE_CHARACTERS,
)
from lake_infra.domains import check_size, domains_template, printed
from lake_infra.inline_policies import check_inline_policies, inline_sizes
from lake_infra.packing import size
from lake_infra.parameters import parameters
from lake_infra.policies import values_of
from lake_infra.readers import readers_template
from lake_infra.resource_names import NotDeployable, check_deployable
from lake_infra.template import GENERATED, LAYERS, load_template
from lake_spec.model import ReadableAs, Reader

from tests.kinds import some_by_day
from tests.unit.lake_infra.lakes import domain, environment, role

REMEDIES = (
    "Let several domains share a runtime role",
    "Name a role of its own for some of them in runtime_roles.",
    "Move some of its tables to another domain.",
    "Name fewer tables or domains in `readers`.",
)


def lake_of(domains: int, tables: int, roles: int, **more: object):
    """An environment whose domains share so many roles, each with a topic of its own."""
    names = [f"domain_of_some_{n:02d}" for n in range(domains)]
    lake = []
    for name in names:
        paths = [f"{name}/table_of_some_{n:03d}" for n in range(tables)]
        lake.append(domain(name, *paths, told=f"lake-{name}"))
    arns = tuple(
        (name, role(f"lake-prod-steps-{position % roles}"))
        for position, name in enumerate(names)
    )
    return environment(name="e" * 20, runtime_roles=arns, **more), lake


def deployed(named, lake) -> dict[str, dict]:
    """Every template of the lake with its parameters held to the limits."""
    check_deployable(named, lake)
    check_inline_policies(named, lake)
    one = (Reader("analysts", tables=("t0",)),)
    read = [replace(each, readers=one) for each in lake]
    templates = {
        "domains": domains_template(named, lake),
        "readers": readers_template(named, read),
        **{each: load_template(each) for each in LAYERS if each not in GENERATED},
    }
    for template in templates.values():
        parameters(template, named, lake)
    return templates


def over_the_limits(templates, named, lake) -> list[str]:
    """What is over a limit, by the layer and the resource, counted on its own here."""
    found, values = [], values_of(named, lake)
    for layer, template in templates.items():
        resources = template["Resources"]
        if len(resources) > TEMPLATE_RESOURCES:
            found.append(f"{layer}: resources")
        if len(printed(template).encode()) > TEMPLATE_BYTES:
            found.append(f"{layer}: bytes")
        told = parameters(template, named, lake)
        found += [n for n, each in told.items() if len(each) > VALUE_CHARACTERS]
        attached: dict[str, int] = {}
        for name, each in resources.items():
            kind = each["Type"] if isinstance(each, dict) else ""
            if kind == "AWS::IAM::ManagedPolicy":
                if size(each["Properties"]["PolicyDocument"]) > POLICY_CHARACTERS:
                    found.append(f"{layer}: {name}")
                (ref,) = each["Properties"]["Roles"]
                attached[ref["Ref"]] = attached.get(ref["Ref"], 0) + 1
            if kind == "AWS::IAM::Role":
                trust = each["Properties"]["AssumeRolePolicyDocument"]
                if len(json.dumps(trust)) > TRUST_CHARACTERS:
                    found.append(f"{layer}: trust of {name}")
        found += [n for n, count in attached.items() if count > POLICIES_OF_ROLE]
        if layer not in ("domains", "endpoints"):
            sizes = inline_sizes(template, values)
            found += [n for n, each in sizes.items() if each > INLINE_CHARACTERS]
    return found


@pytest.mark.parametrize(
    "domains, tables, roles, is_refused",
    [
        (1, 1, 1, False),
        (1, 500, 1, False),
        (3, 5, 1, False),
        (4, 5, 1, False),
        (10, 5, 1, False),
        (20, 5, 2, False),
        (20, 20, 20, False),
        (50, 1, 1, True),
        (50, 1, 10, False),
        (50, 2, 50, True),
    ],
)
def test_a_lake_keeps_every_limit_or_is_refused(domains, tables, roles, is_refused):
    named, lake = lake_of(domains, tables, roles, erase_secret="/lake/prod/erase")
    try:
        templates = deployed(named, lake)
    except NotDeployable as error:
        assert is_refused, error
        assert any(each in str(error) for each in REMEDIES), error
        return
    assert not is_refused
    assert over_the_limits(templates, named, lake) == []


@pytest.mark.parametrize("seed", some_by_day(range(6), {0, 1}))
def test_lakes_of_any_shape_keep_every_limit_or_are_refused(seed):
    dice = random.Random(seed)
    domains = dice.randint(1, 50)
    tables = dice.choice([1, 2, 5, 20, 500 if domains < 3 else 10])
    roles = dice.randint(1, domains)
    erase = dice.choice([None, "/lake/prod/erase"])
    kinds = dice.choice([(), (ReadableAs.ICEBERG, ReadableAs.DELTA)])
    named, lake = lake_of(domains, tables, roles, erase_secret=erase, readable_as=kinds)
    try:
        templates = deployed(named, lake)
    except NotDeployable as error:
        assert any(each in str(error) for each in REMEDIES), error
    else:
        assert over_the_limits(templates, named, lake) == []


def test_airflows_role_counts_roles_and_topics_of_all_domains():
    """Each has a statement's line, and IAM counts all inline policies of a role together."""
    named, lake = lake_of(50, 1, 50)
    with pytest.raises(NotDeployable) as error:
        check_inline_policies(named, lake)
    (reason,) = error.value.reasons
    assert f"role lake-{named.name}-airflow of the layer mwaa" in reason
    assert (
        "IAM takes 10240. Let several domains share a runtime role or topic" in reason
    )


def test_a_template_of_too_many_bytes_is_refused():
    text = "x" * TEMPLATE_BYTES
    with pytest.raises(NotDeployable, match="bytes; CloudFormation takes 1,048,576"):
        check_size(environment(), {"Resources": {"A": text}}, "")


def test_what_is_over_a_limit_is_seen():
    """Planted: a policy that is too long, one too many of them, and a long trust."""
    named, lake = lake_of(1, 1, 1)
    templates = deployed(named, lake)
    domains = templates["domains"]["Resources"]
    (name,) = [n for n, e in domains.items() if e["Type"] == "AWS::IAM::Role"]
    policy = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"Roles": [{"Ref": name}], "PolicyDocument": {}},
    }
    domains.update({f"More{n}": policy for n in range(10)})
    long = {**policy["Properties"], "PolicyDocument": {"Statement": "x" * 6144}}
    domains["Long"] = {**policy, "Properties": long}
    domains[name]["Properties"]["AssumeRolePolicyDocument"]["Statement"] *= 20
    found = over_the_limits(templates, named, lake)
    assert found == [f"domains: trust of {name}", "domains: Long", name]
