"""What the driver does for a table grows with its columns, not with their square.

Counted, for seconds depend on the machine: calls into the JVM, and columns that
shuffles are by (Spark compares each of these with each of those that it needs).
"""

from __future__ import annotations

import re

import pytest

from lake_spark.changelog.schema import ENVELOPE
from lake_spark.landing.ingested_files import LogContents
from lake_spark.materialize import difference
from lake_spark.materialize.layers import complete_events
from lake_spark.scd2.current import CurrentLayer
from lake_spark.scd2.events import Roles, mark_events, marked_then
from lake_spark.scd2.history import HistoryLayer
from lake_spark.storage import session
from tests.spark.lake import FEED_FILES, Lake, table


def spec_of(columns: int):
    more = "\n".join(f"  c{i}: string" for i in range(columns))
    return table(FEED_FILES + f"""\
key: [id]
order_by: [at]
effective_at: at
columns:
  id: int
  at: timestamp
{more}
""")


def names_of(columns: int) -> str:
    return ",".join(["id", "at", *(f"c{i}" for i in range(columns))])


def calls(spark, monkeypatch, root, columns: int) -> int:
    """How many calls an incremental and a scd2 take in a lake with one row."""
    lake = Lake(spark, root, spec_of(columns))
    values = ",".join(["x"] * columns)
    lake.land("load/1.csv", f"{names_of(columns)}\n1,2026-01-01,{values}\n")
    lake.done("full_load", "scd2")
    lake.land("changes/1.csv", f"op,{names_of(columns)}\nU,1,2026-01-02,{values}y\n")
    client, sent = type(spark._jvm._gateway_client), []
    send = client.send_command
    with monkeypatch.context() as counting:
        counting.setattr(
            client,
            "send_command",
            lambda self, command, *rest, **more: (
                sent.append(1),
                send(self, command, *rest, **more),
            )[1],
        )
        lake.done("incremental", "scd2")
    assert lake.living("c0", f"c{columns - 1}") == [(1, "x", "xy")]
    return len(sent)


@pytest.mark.nightly
def test_calls_into_the_jvm_grow_with_the_columns(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "FEW_ROWS", 0)
    counts = [calls(spark, monkeypatch, tmp_path / str(n), n) for n in (20, 60, 140)]
    first, second = (b - a for a, b in zip(counts, counts[1:]))
    assert second < 2 * 1.2 * first, counts


def test_events_are_shuffled_by_their_key_alone(spark, tmp_path):
    lake = Lake(spark, tmp_path, spec_of(5))
    lake.land("load/1.csv", f"{names_of(5)}\n1,2026-01-01,a,b,c,d,e\n")
    lake.done("full_load")
    names = ["id", "at", *(f"c{i}" for i in range(5))]
    roles = Roles.of(lake.spec, names)
    marked = mark_events(lake.tables.log.read(), roles)
    plan = marked._jdf.queryExecution().executedPlan().toString()
    shuffled_by = re.findall(r"hashpartitioning\(([^()]*)\)", plan)
    assert [re.sub(r"#\d+", "", each) for each in shuffled_by] == ["lake_key, 2"]


@pytest.mark.nightly
@pytest.mark.parametrize("layer", [CurrentLayer, HistoryLayer])
def test_the_plan_of_a_build_grows_with_the_columns(spark, layer):
    sizes = [nodes(spark, layer, columns) for columns in (20, 60, 140)]
    first, second = (b - a for a, b in zip(sizes, sizes[1:]))
    assert first > 0
    assert second < 2 * 1.2 * first, sizes


def nodes(spark, layer: type, columns: int) -> int:
    """How many operators and expressions the comparison of deliveries has."""
    spec = spec_of(columns)
    names = ["id", "at", *(f"c{i}" for i in range(columns))]
    kinds = dict(ENVELOPE, id="int", at="timestamp", _hoodie_commit_time="string")
    shape = ", ".join(
        f"{n} {kinds.get(n, 'string')}" for n in {**kinds, **dict.fromkeys(names)}
    )
    roles = Roles.of(spec, names)
    marked = mark_events(spark.createDataFrame([], shape), roles, "1")
    made = layer(spec, names)
    new, old = (
        made.desired(complete_events(each, spec, roles, LogContents()))
        for each in (marked, marked_then(marked))
    )
    rows = difference.difference(
        new, difference.shaped_as(old, new), made.record_key, made
    )
    plan = rows._jdf.queryExecution().optimizedPlan()
    return plan.toJSON().count('"class"')
