"""The fold alone, without Hudi, against the oracle on thousands of histories.

A few keys with up to a dozen events each: repeated, deleted, tied, resent under
another name, before 1582, with -0.0, NaN and nulls, with and without a full load.
"""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from lake_spark.changelog.schema import log_columns
from lake_spark.formats.file_schema import Shape
from lake_spark.ingest import full_refresh
from lake_spark.landing.files import LandingFile, position_of
from lake_spark.landing.ingested_files import LogContents
from lake_spark.materialize.layers import complete_events
from lake_spark.reading import event_expressions, moved_keys
from lake_spark.reading.reader import Input
from lake_spark.scd2.current import CurrentLayer, living_rows
from lake_spark.scd2.events import distinct_events, KEY, mark_events, marked_then, Roles
from lake_spark.scd2.history import HistoryLayer, version_rows
from tests.kinds import one_by_day
from tests.oracle import comparison, histories, oracle
from tests.oracle.landing_files import log_record, started
from tests.oracle.tables import SPECS, settings_of
from tests.spark.lake import table

SEED = 20260801
FEATURES = histories.Features(
    truncates=True, placeholders=True, full_refresh=True, moves=True
)
ONLY_OWN = histories.Features()
HISTORIES = 800
"""Of each of the three tables."""


def change_log(spark, spec, landing):
    """The landing's records as the log would hold them."""
    columns = [(name, column.type) for name, column in spec.columns]
    records = [
        (*log_record(spec, each), position_of(each.path))
        for each in landing.deliveries()
    ]
    raw = spark.createDataFrame(
        records,
        "json string, before string, lake_word string, lake_rank int, lake_started string, "
        "lake_unavailable string, lake_path string, lake_record bigint, "
        "lake_position string",
    )
    rows = (
        raw.select(
            parsed("json", columns).alias("row"),
            parsed("before", [e for e in columns if e[0] in spec.key]).alias(
                "lake_before"
            ),
            *raw.columns[2:],
        )
        .select("row.*", "lake_before", *raw.columns[2:])
        .withColumn("lake_named_key", F.lit(None).cast("string"))
        .withColumn("lake_is_gone", F.lit(False))
        .selectExpr(
            "*",
            *event_expressions.envelope_columns(spec, columns),
            "'etag' AS lake_etag",
            "timestamp '2026-02-01' AS lake_landed_at",
            "CAST(NULL AS timestamp) AS lake_snapshot_at",
            "CAST(NULL AS string) AS lake_narrow",
        )
    )
    rows = moved_keys.as_events(spec, rows, columns)
    commit = "CAST(pmod(hash(lake_path), 3) AS string) AS _hoodie_commit_time"
    rows = rows.selectExpr(commit, *log_columns(columns))
    if not any(each.full_refresh_at for each in landing.deliveries()):
        return rows
    markers = full_refresh.markers_sql(spec, [full_refresh_of(spec, landing)])
    return rows.unionByName(spark.sql(markers), allowMissingColumns=True)


def parsed(name, columns):
    schema = ", ".join(f"`{column}` {kind}" for column, kind in columns)
    times = "yyyy-MM-dd HH:mm:ss.SSSSSS"
    return F.from_json(name, schema, {"timestampFormat": times, "mode": "FAILFAST"})


def full_refresh_of(spec, landing):
    """The one full refresh of the histories, as the ingestion names it."""
    record = next(each for each in landing.deliveries() if each.full_refresh_at)
    file = LandingFile(record.path, "etag", "", 1, record.landed)
    return Input(file, Shape(()), 1, started(spec, record))


@pytest.mark.parametrize("name", one_by_day(sorted(SPECS)))
def test_the_fold_is_the_oracles_on_random_histories(spark, name):
    spec = table(SPECS[name])
    landing = histories.landing(spec, SEED, list(range(HISTORIES)), FEATURES)
    columns = [column for column, _ in spec.columns]
    log = change_log(spark, spec, landing)
    roles = Roles.of(spec, columns)
    marked = mark_events(log, roles)
    events = complete_events(
        marked, spec, roles, LogContents(True, True, True)
    ).persist()
    current, history = oracle.tables(landing.deliveries(), settings_of(spec))
    flags = ["is_deleted"] if spec.current.deletes.value == "soft" else []
    compare(spec, landing, living_rows(events, spec, columns), current, flags)
    names = [*comparison.TIMES, *comparison.FLAGS]
    compare(spec, landing, version_rows(events, spec, columns), history, names)


@pytest.mark.parametrize("name", one_by_day(sorted(SPECS)))
def test_keys_with_one_delivery_are_the_oracles_without_a_fold(spark, name):
    spec = table(SPECS[name])
    landing = histories.landing(spec, SEED, list(range(HISTORIES // 2)), ONLY_OWN)
    columns = [column for column, _ in spec.columns]
    log = change_log(spark, spec, landing).persist()
    times = log.groupBy(KEY).count()
    keys = times.where("count = 1").select(KEY).persist()
    assert keys.count() > HISTORIES / 20
    only, several = (log.join(keys, KEY, how) for how in ("semi", "anti"))
    marked = mark_events(several, Roles.of(spec, columns))
    events = distinct_events(marked).persist()
    wanted = oracle.tables(landing.deliveries(), settings_of(spec))
    layers = (CurrentLayer(spec, columns), HistoryLayer(spec, columns))
    flags = ["is_deleted"] if spec.current.deletes.value == "soft" else []
    names = (flags, [*comparison.TIMES, *comparison.FLAGS])
    for layer, rows, named in zip(layers, wanted, names):
        made = layer.desired(events).unionByName(layer.desired_of_single_events(only))
        compare(spec, landing, made, rows, named, least=HISTORIES // 4)


@pytest.mark.parametrize("name", one_by_day(sorted(SPECS)))
def test_events_until_a_commit_are_those_of_a_log_that_ends_there(spark, name):
    spec = table(SPECS[name])
    landing = histories.landing(spec, SEED, list(range(HISTORIES // 4)), FEATURES)
    columns = [column for column, _ in spec.columns]
    log = change_log(spark, spec, landing).fillna("0", "_hoodie_commit_time").persist()
    roles = Roles.of(spec, columns)
    marked = mark_events(log, roles, "1")
    found = as_texts(distinct_events(marked_then(marked)))
    ended = log.where("_hoodie_commit_time <= '1'")
    wanted = as_texts(distinct_events(mark_events(ended, roles)))
    assert 0 < len(wanted) < ended.count()
    assert found == wanted
    whole = as_texts(distinct_events(marked))
    assert whole == as_texts(distinct_events(mark_events(log, roles)))


def as_texts(rows):
    text = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    return sorted(row.text for row in rows.select(text.alias("text")).collect())


def compare(spec, landing, made, wanted, names, least=HISTORIES // 2):
    rows = comparison.rows_of(made, spec, *names)
    wrong = comparison.differing(rows, comparison.expected(wanted, *names))
    shown = [
        f"history {number}:\n{comparison.story(events_of(landing, number), difference)}"
        for number, difference in list(wrong.items())[:3]
    ]
    assert len(rows) >= least
    assert not wrong, f"seed {SEED}: {len(wrong)} histories differ\n" + "\n".join(shown)


def events_of(landing, number):
    events = (e for e in landing.deliveries() if e.key is None or e.key[0] == number)
    return sorted(events, key=oracle.position)
