"""The fold alone, without Hudi, against the oracle on thousands of histories.

A few keys with up to a dozen events each: repeated, deleted, tied, resent under
another name, before 1582, with -0.0, NaN and nulls, with and without a full load.
"""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from lake_spark import fold, log_rows
from lake_spark.current import living_rows
from lake_spark.history import version_rows
from lake_spark.landing import position_of
from tests.oracle import comparison, histories, oracle
from tests.oracle.landing_files import log_record
from tests.oracle.tables import SPECS, settings_of
from tests.spark.lake import table

SEED = 20260801
HISTORIES = 800
"""Of each of the three tables."""


def change_log(spark, spec, landing):
    """The landing's records as the log would hold them."""
    columns = [(name, column.type) for name, column in spec.columns]
    records = [
        (*log_record(spec, each), position_of(each.path))
        for each in landing.sightings()
    ]
    raw = spark.createDataFrame(
        records,
        "json string, lake_word string, lake_rank int, lake_path string, "
        "lake_record bigint, lake_position string",
    )
    schema = ", ".join(f"`{name}` {kind}" for name, kind in columns)
    parsed = F.from_json(
        "json",
        schema,
        {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS", "mode": "FAILFAST"},
    )
    return (
        raw.select(parsed.alias("row"), *raw.columns[1:])
        .select("row.*", *raw.columns[1:])
        .selectExpr(
            "*",
            *log_rows.envelope_columns(spec, columns),
            "'etag' AS lake_etag",
            "timestamp '2026-02-01' AS lake_landed_at",
            "CAST(NULL AS timestamp) AS lake_extract_at",
            "CAST(NULL AS string) AS lake_started",
            "CAST(pmod(hash(lake_path), 3) AS string) AS _hoodie_commit_time",
        )
        .select("_hoodie_commit_time", *log_rows.log_columns(columns))
    )


@pytest.mark.parametrize("name", SPECS)
def test_the_fold_is_the_oracles_on_random_histories(spark, name):
    spec = table(SPECS[name])
    landing = histories.landing(spec, SEED, list(range(HISTORIES)))
    columns = [column for column, _ in spec.columns]
    log = change_log(spark, spec, landing)
    marked = fold.mark_events(log, fold.Roles.of(spec, columns))
    events = fold.distinct_events(marked).persist()
    current, history = oracle.tables(landing.sightings(), settings_of(spec))
    flags = ["is_deleted"] if spec.current.deletes.value == "soft" else []
    compare(spec, landing, living_rows(events, spec, columns), current, flags)
    names = [*comparison.TIMES, *comparison.FLAGS]
    compare(spec, landing, version_rows(events, spec, columns), history, names)


def compare(spec, landing, made, wanted, names):
    rows = comparison.rows_of(made, spec, *names)
    wrong = comparison.differing(rows, comparison.expected(wanted, *names))
    shown = [
        f"history {number}:\n{comparison.story(events_of(landing, number), difference)}"
        for number, difference in list(wrong.items())[:3]
    ]
    assert len(rows) >= HISTORIES
    assert not wrong, f"seed {SEED}: {len(wrong)} histories differ\n" + "\n".join(shown)


def events_of(landing, number):
    events = (each for each in landing.sightings() if each.key[0] == number)
    return sorted(events, key=oracle.position)
