"""Rules on clusters: each limit of EMR is told by file, key, value and remedy."""

import pytest

from tests.unit.lake_check.spec_files import CLUSTER, diagnostics_of_file

FLEETS = {
    "kind": "instance_fleets",
    "core": {"instance_types": ["r7g.2xlarge"], "target_on_demand_capacity": 2},
    "task": {"instance_types": ["r7g.2xlarge", "m7g.2xlarge"]},
}
ON_SPOT = {
    "instances": FLEETS,
    "instances.task.target_spot_capacity": 4,
}
SCALING = {
    "minimum_capacity_units": 2,
    "maximum_capacity_units": 20,
    "maximum_core_capacity_units": 2,
    "maximum_on_demand_capacity_units": 2,
}


def diagnostics(specs, changes):
    return diagnostics_of_file(specs, "clusters/standard.yml", CLUSTER, changes)


def groups(**changes):
    return {
        "instances": {
            "kind": "instance_groups",
            **changes,
        }
    }


def volume(**changes):
    return groups(core={"ebs_volumes": [{"size_in_gb": 100, **changes}]})


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"name": "small"},
            "name: got 'small'. Its file or folder is named 'standard'",
        ),
        (
            {"release_label": "emr-7.10.0"},
            "release_label: got 'emr-7.10.0'. Releases before emr-7.11.0 lack Hudi "
            "1.0.2. Choose one of: emr-7.11.0, ",
        ),
        (
            {"release_label": "emr-spark-8.0.0"},
            "release_label: got 'emr-spark-8.0.0'. EMR Spark 8 has Spark 4, whose ANSI "
            "SQL makes casts fail that give null here, and Hudi 1.1, which raises tables "
            "to version 9",
        ),
        (
            {"release_label": "emr-7.99.0"},
            "release_label: got 'emr-7.99.0'. Its versions are not known here: add it to "
            "dags/lake_spec/platform/aws_releases.py",
        ),
        (
            {"step_concurrency_level": 257},
            "step_concurrency_level: got 257. Choose a number from 1 to 256.",
        ),
        ({"start_minutes": 5}, "start_minutes: got 5. Choose a number from 10 to 1440"),
        (
            {**ON_SPOT, "start_minutes": 15},
            "start_minutes: got 15. Choose more than 15 minutes: the start",
        ),
        ({"idle_minutes": 10081}, "idle_minutes: got 10081. Choose a number from 1 to"),
        (
            {"ebs_root_volume_size": 14},
            "ebs_root_volume_size: got 14. Choose a number from",
        ),
        (
            {"driver_memory": "4 GB"},
            "driver_memory: got '4 GB'. Write a whole number followed by m or g, as in",
        ),
        (
            {"tags": {"AWS:x": "y"}},
            "tags.AWS:x: got 'AWS:x'. AWS reserves keys that begin with aws: - choose",
        ),
        (
            {"tags": {"lake:run": "y"}},
            "tags.lake:run: got 'lake:run'. The project sets this tag on every "
            "cluster:",
        ),
        ({"tags": {"team": "{{ x }}"}}, "tags.team: got '{{ x }}'. Write 1 to 256"),
        ({"tags": {"k" * 129: "v"}}, "Write 1 to 128 letters"),
        (
            {"tags": {f"k{n}": "v" for n in range(21)}},
            "tags: got 21 tags. Keep at most 20: EMR allows 50",
        ),
    ],
)
def test_a_cluster_out_of_bounds_is_refused(specs, changes, message):
    assert any(message in each for each in diagnostics(specs, changes))


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            groups(core={"instance_type": "large"}),
            "instances.core.instance_type: got 'large'. Write an EC2 instance type",
        ),
        (
            groups(task={"instance_count": 0}),
            "instances.task.instance_count: got 0. Choose a number from 1 to 1000.",
        ),
        (
            groups(task={"market": "spot"}),
            "instances.task.market: got 'spot'. Did you mean 'SPOT'? Choose one of:",
        ),
        (
            groups(core={"instance_types": ["m7g.large"]}),
            "instances.core.instance_types: unknown key. Did you mean 'instance_type'?",
        ),
        (
            {"instances": {"kind": "fleets"}},
            "instances.kind: got 'fleets'.",
        ),
        (
            {"instances": {"kind": "instance_fleets"}},
            "instances.core: missing. The core nodes. Write for example `core:"
            " {instance_types: [m7g.2xlarge, m6g.2xlarge]}`.",
        ),
        (
            {**ON_SPOT, "instances.core.instance_types": []},
            "instances.core.instance_types: got 0 instance types. Give 1 to 30 instance",
        ),
        (
            {
                **ON_SPOT,
                "instances.task.instance_types": [f"m{n}.large" for n in range(31)],
            },
            "instances.task.instance_types: got 31 instance types. Give 1 to",
        ),
        (
            {**ON_SPOT, "instances.primary.instance_types": ["m7g.large"] * 2},
            "instances.primary.instance_types[1]: got 'm7g.large'. Name each",
        ),
        (
            {
                **ON_SPOT,
                "instances.core.instance_types": [
                    {"instance_type": "m7g.large", "weighted_capacity": 0}
                ],
            },
            "instances.core.instance_types[0].weighted_capacity: got 0. Choose a "
            "number from",
        ),
        (
            {**ON_SPOT, "instances.core.target_on_demand_capacity": 0},
            "instances.core.target_on_demand_capacity: got 0. Choose a number from 1",
        ),
        (
            {"instances": FLEETS},
            "instances.task.target_spot_capacity: got 0. Give it units on Spot or on "
            "demand, or remove",
        ),
        (
            {**ON_SPOT, "instances.task.spot.timeout_duration_minutes": 4},
            "spot.timeout_duration_minutes: got 4. Choose a number from 5 to 1440.",
        ),
        (
            {**ON_SPOT, "instances.task.spot.timeout_action": "WAIT"},
            "spot.timeout_action: got 'WAIT'. Choose one of: SWITCH_TO_ON_DEMAND, TERM",
        ),
    ],
)
def test_nodes_that_emr_would_refuse_are_refused(specs, changes, message):
    assert any(message in each for each in diagnostics(specs, changes))


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            volume(size_in_gb=9),
            "ebs_volumes[0].size_in_gb: got 9. Choose a number from",
        ),
        (
            volume(volumes_per_instance=25),
            "volumes_per_instance: got 25. Choose a number from",
        ),
        (volume(iops=2999), "iops: got 2999. Choose a number from 3000 to 16000."),
        (
            volume(volume_type="io1"),
            "iops: missing. Write 100 to 64000: an io1 volume requires it.",
        ),
        (
            volume(volume_type="gp2", iops=3000),
            "iops: got 3000. Remove it: only gp3 and io1 volumes support it.",
        ),
        (volume(throughput=124), "throughput: got 124. Choose a number from 125 to"),
        (
            volume(volume_type="st1", throughput=500),
            "instances.core.ebs_volumes[0].throughput: got 500. Remove it: only gp3 "
            "volumes support it.",
        ),
    ],
)
def test_volumes_are_held_to_ebs(specs, changes, message):
    assert any(message in each for each in diagnostics(specs, changes))


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"minimum_capacity_units": 21},
            "managed_scaling.minimum_capacity_units: got 21. Choose a number from 1 to 20",
        ),
        (
            {"maximum_core_capacity_units": 1},
            "managed_scaling.maximum_core_capacity_units: got 1. Choose a number from 2",
        ),
        (
            {"maximum_on_demand_capacity_units": 1},
            "managed_scaling.maximum_on_demand_capacity_units: got 1. Choose a number"
            " from 2 to 20.",
        ),
        (
            {"maximum_capacity_units": 5},
            "managed_scaling.maximum_capacity_units: got 5. The cluster starts with 6",
        ),
        (
            {"maximum_core_capacity_units": 3},
            "managed_scaling.maximum_on_demand_capacity_units: got 2. Up to 3 units "
            "are core nodes, which are always on demand: set "
            "maximum_core_capacity_units to 2 at most, or allow more here.",
        ),
    ],
)
def test_scaling_has_its_bounds_in_order(specs, change, message):
    changes = {**ON_SPOT, "managed_scaling": {**SCALING, **change}}
    assert any(message in each for each in diagnostics(specs, changes))


def test_what_is_scaled_beyond_the_core_needs_task_nodes(specs):
    (diagnostic,) = diagnostics(specs, {"managed_scaling": SCALING})
    assert diagnostic == (
        "managed_scaling.maximum_core_capacity_units: got 2. The other units are task"
        " nodes: add `task` to `instances`."
    )


def test_a_bound_that_cannot_be_read_is_one_diagnostic(specs):
    changes = {"managed_scaling": {**SCALING, "maximum_capacity_units": "many"}}
    (diagnostic,) = diagnostics(specs, {**ON_SPOT, **changes})
    assert diagnostic.startswith("managed_scaling.maximum_capacity_units: got 'many'.")


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("spark.hadoop.fs.s3a.secret.key", "x", "Choose one of: spark.default.parall"),
        ("spark.serializer", "x", "Choose one of: "),
        ("hoodie" + ".datasource.write.operation", "upsert", "Choose one of: "),
        ("spark.sql.session.timeZone", "CET", "Choose one of: "),
        ("spark.sql.ansi.enabled", "true", "Choose one of: "),
        ("spark.executor.memoryX", "1g", "Choose one of: "),
        ("spark.driver.memory", "8g", "Write it as `driver_memory`."),
        ("spark.executor.memory", "10 g", "Write 1 to 40 of A-Z a-z 0-9"),
        ("spark.executor.memory", "1g;x", "Write 1 to 40 of A-Z a-z 0-9"),
    ],
)
def test_settings_of_spark_outside_the_list_are_refused(specs, key, value, message):
    (diagnostic,) = diagnostics(specs, {"spark_defaults": {key: value}})
    assert (
        diagnostic.startswith(f"spark_defaults.{key}: got ") and message in diagnostic
    )


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"path": "/tmp/x.sh"},
            "path: got '/tmp/x.sh'. Write a path below `artifacts`",
        ),
        ({"path": "a/../x.sh"}, "bootstrap_actions[0].path: got 'a/../x.sh'. Write a"),
        ({"path": "http://x/y"}, "bootstrap_actions[0].path: got 'http://x/y'. Write"),
        ({"args": ["a", "$(b)"]}, "bootstrap_actions[0].args[1]: got '$(b)'. Write 1"),
        ({"name": ""}, "bootstrap_actions[0].name: got ''. Write 1 to 128"),
    ],
)
def test_bootstrap_actions_are_plain_scripts(specs, change, message):
    action = {"name": "ca", "path": "bootstrap/ca.sh", **change}
    assert any(
        message in each for each in diagnostics(specs, {"bootstrap_actions": [action]})
    )


def test_bootstrap_actions_are_16_at_most(specs):
    actions = [{"name": "ca", "path": "bootstrap/ca.sh"}] * 17
    (diagnostic,) = diagnostics(specs, {"bootstrap_actions": actions})
    assert diagnostic == (
        "bootstrap_actions: got 17 bootstrap actions. Give up to 16 bootstrap actions."
    )


def test_a_cluster_with_everything_passes(specs):
    volumes = [{"size_in_gb": 500, "iops": 4000, "throughput": 500}]
    changes = {
        **ON_SPOT,
        "instances.core.ebs_volumes": volumes,
        "instances.task.ebs_volumes": [
            {"size_in_gb": 50, "volume_type": "io1", "iops": 100}
        ],
        "managed_scaling": SCALING,
        "ebs_root_volume_size": 50,
        "tables_at_once": 8,
        "step_concurrency_level": 4,
        "driver_memory": "3g",
        "spark_defaults": {
            "spark.executor.memory": "10g",
            "spark.dynamicAllocation.maxExecutors": "40",
            "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        },
        "bootstrap_actions": [
            {"name": "ca", "path": "s3://lake/boot/ca.sh", "args": ["--to=/etc/pki"]}
        ],
        "tags": {"team": "sales"},
    }
    assert diagnostics(specs, changes) == []
