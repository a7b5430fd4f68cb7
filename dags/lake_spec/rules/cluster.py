"""Rules on clusters: EMR's own limits, told before any call."""

from __future__ import annotations

import re
from typing import Iterator

from lake_spec.faults import Problem, got
from lake_spec.model import ClusterSpec
from lake_spec.rules import names
from lake_spec.rules.book import RuleBook
from lake_spec.rules.table import within

CLUSTER = RuleBook()

_RELEASE = re.compile(r"emr-[67]\.\d{1,2}\.\d{1,2}", re.ASCII)
_INSTANCE = re.compile(r"[a-z][a-z0-9-]{1,19}\.[a-z0-9-]{1,19}")
_MEMORY = re.compile(r"[1-9]\d{0,5}[mg]", re.ASCII)


@CLUSTER.rule("name")
def cluster_is_named_by_the_allow_list(spec: ClusterSpec) -> Iterator[Problem]:
    yield from names.name(("name",), spec.name)


@CLUSTER.rule("release_label")
def release_label_is_one_of_emr(spec: ClusterSpec) -> Iterator[Problem]:
    if not _RELEASE.fullmatch(spec.release_label):
        remedy = "Write a release of EMR 6 or 7, as in emr-7.13.0."
        yield got(("release_label",), spec.release_label, remedy)


@CLUSTER.rule()
def instance_types_are_shaped_like_ec2s(spec: ClusterSpec) -> Iterator[Problem]:
    for name in ("primary_type", "core_type"):
        value = getattr(spec, name)
        if not _INSTANCE.fullmatch(value):
            yield got((name,), value, "Write an EC2 instance type, as in m7g.xlarge.")


@CLUSTER.rule()
def cluster_counts_are_within_emrs_limits(spec: ClusterSpec) -> Iterator[Problem]:
    yield from within(("core_count",), spec.core_count, 1, 100)
    yield from within(("step_concurrency",), spec.step_concurrency, 1, 256)
    yield from within(("idle_minutes",), spec.idle_minutes, 1, 10080)
    yield from within(("max_hours",), spec.max_hours, 1, 168)


@CLUSTER.rule("driver_memory")
def driver_memory_is_an_amount(spec: ClusterSpec) -> Iterator[Problem]:
    if not _MEMORY.fullmatch(spec.driver_memory):
        remedy = "Write a whole number and m or g, as in 4g."
        yield got(("driver_memory",), spec.driver_memory, remedy)


@CLUSTER.rule("tags")
def cluster_tags_fit_aws(spec: ClusterSpec) -> Iterator[Problem]:
    for key, value in spec.tags:
        yield from names.label(("tags", key), key, 128)
        yield from names.label(("tags", key), value, 256)
        if key.lower().startswith("aws:"):
            remedy = "AWS keeps keys that begin with aws: for itself: choose another."
            yield got(("tags", key), key, remedy)
