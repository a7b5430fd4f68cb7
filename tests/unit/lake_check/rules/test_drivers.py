"""Drivers share the primary node, and are told when they do not fit."""

import pytest

from tests.unit.lake_check.spec_files import CLUSTER, diagnostics_of_file


def diagnostics(specs, primary=None, **changes):
    if primary:
        changes["instances"] = {
            "kind": "instance_groups",
            "primary": primary,
        }
    return diagnostics_of_file(specs, "clusters/standard.yml", CLUSTER, changes)


def test_drivers_that_do_not_fit_are_refused_with_what_would(specs):
    assert diagnostics(
        specs, {"instance_type": "m7g.xlarge"}, step_concurrency_level=4
    ) == [
        "driver_memory: got '4g'. Every step has its driver on the primary node, and "
        "drivers may use 75% of the 16 GiB of m7g.xlarge. With step_concurrency_level "
        "4 write 3072m at most, or choose a lower level or a larger primary node."
    ]


def test_of_a_fleet_the_smallest_type_counts(specs):
    fleet = {
        "kind": "instance_fleets",
        "primary": {"instance_types": ["m7g.4xlarge", "c7i-flex.xlarge"]},
        "core": {"instance_types": ["r7g.2xlarge"]},
    }
    (diagnostic,) = diagnostics(specs, instances=fleet, driver_memory="6145m")
    assert "of the 8 GiB of c7i-flex.xlarge" in diagnostic
    assert diagnostics(specs, instances=fleet, driver_memory="6g") == []


@pytest.mark.parametrize(
    "level, instance_type",
    [(3, "m7g.xlarge"), (12, "r7g.2xlarge"), (1, "m5.2xlarge"), (200, "x2gd.large")],
    ids=[
        "just fits",
        "fits a larger one",
        "one step",
        "a family of which we know nothing",
    ],
)
def test_drivers_that_fit_their_node(specs, level, instance_type):
    primary = {"instance_type": instance_type}
    assert diagnostics(specs, primary, step_concurrency_level=level) == []


@pytest.mark.parametrize("level, is_sound", [(0, False), (64, True), (65, False)])
def test_how_many_tables_a_step_takes_at_once(specs, level, is_sound):
    found = diagnostics(specs, tables_at_once=level)
    assert [each.split(". ")[0] for each in found] == (
        [] if is_sound else [f"tables_at_once: got {level}"]
    )
