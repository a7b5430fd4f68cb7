"""The shuffle partitions of a session: configured, of one machine, of a cluster."""

from types import SimpleNamespace

import pytest

from lake_spec.platform.parallelism import CLUSTER_CORES
from lake_spark.storage.session import SHUFFLE_PARTITIONS, set_shuffle_partitions


class Settings(dict):
    """Spark's settings as the context has them."""

    contains = dict.__contains__


def partitions(master: str, registered: int, **settings: str) -> str:
    """What the session has after it; `registered` are the cores that Spark counts."""
    context = SimpleNamespace(
        master=master,
        defaultParallelism=registered,
        getConf=lambda: Settings(settings),
    )
    found = Settings({SHUFFLE_PARTITIONS: settings.get(SHUFFLE_PARTITIONS, "200")})
    conf = SimpleNamespace(set=found.__setitem__)
    set_shuffle_partitions(SimpleNamespace(sparkContext=context, conf=conf))
    return found[SHUFFLE_PARTITIONS]


@pytest.mark.parametrize("master", ["yarn", "local[*]"])
def test_a_configured_value_survives(master):
    configured = {SHUFFLE_PARTITIONS: "77", CLUSTER_CORES: "160"}
    assert partitions(master, 8, **configured) == "77"


@pytest.mark.parametrize(
    "master, registered, cores, expected",
    [
        ("yarn", 2, "160", "480"),
        ("yarn", 2, "0", "2"),
        ("yarn", 600, "160", "600"),
        ("local-cluster[3,2,2048]", 2, "6", "18"),
        ("local[*]", 8, "160", "8"),
        ("local", 1, "160", "2"),
    ],
)
def test_a_cluster_has_partitions_for_nodes_that_are_still_to_come(
    master, registered, cores, expected
):
    assert partitions(master, registered, **{CLUSTER_CORES: cores}) == expected
