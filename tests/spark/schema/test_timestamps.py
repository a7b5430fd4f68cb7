"""Which texts are times, and of which clock: contract 2.2, 2.6; and times of long ago."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from lake_spec.hudi import streamer_options
from lake_spark.schema.timestamps import rank_of_clock, timestamp
from lake_spark.storage.session import CONFIGURATION
from tests.clock_changes import NIGHTS

SUMMER = "2026-07-01 12:00:00"
VIENNA = "2026-07-01 10:00:00"  # the same on a clock there, in UTC


def read(spark, texts, target="timestamp", pattern=None, zone="Europe/Vienna"):
    rows = spark.createDataFrame([(text,) for text in texts], "text string")
    read = timestamp("text", target, pattern, zone)
    found = rows.selectExpr(f"CAST({read} AS string) AS read").collect()
    return [row["read"] for row in found]


def test_a_time_without_zone_is_of_the_declared_one(spark):
    texts = [SUMMER, f" {SUMMER}.000 ", "2026-07-01T12:00:00", "2026-7-1 12:0:0"]
    assert read(spark, texts) == [VIENNA] * 4
    assert read(spark, ["2026-07-01"]) == ["2026-06-30 22:00:00"]
    assert read(spark, [SUMMER], zone="UTC") == [SUMMER]


@pytest.mark.parametrize(
    "zone", ["+02", "+02:00", "+2:00", "+0200", " Europe/Vienna", " CET", "UTC+2"]
)
def test_a_time_with_a_zone_is_an_instant_whatever_is_declared(spark, zone):
    found = read(spark, [SUMMER + zone])
    assert found == read(spark, [SUMMER + zone], zone="UTC")
    assert found in (["2026-07-01 10:00:00"], [None])


def test_the_short_zones_of_postgresql_are_read(spark):
    assert read(spark, [f"{SUMMER}+02", f"{SUMMER}.5-03"]) == [
        "2026-07-01 10:00:00",
        "2026-07-01 15:00:00.5",
    ]
    assert read(spark, [f"{SUMMER}Z", f"{SUMMER} UTC"]) == [SUMMER, SUMMER]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna"])
@pytest.mark.parametrize(
    "text",
    ["09:30:00", "T09:30", "202601", "12", "", "now", "2026", "2026-02", "2026-W05"]
    + ["2026-02-03 or later", "2026-02-03Tx", "2026-02-03 99:99", "2026-02-031"]
    + ["0000-01-01", "2026-02-30", "\t2026-02-03", "2026-02-03\n", "+2026-02-03"],
)
def test_the_whole_text_must_be_a_time_with_its_date(spark, text, zone):
    assert read(spark, [text], zone=zone) == [None]
    assert read(spark, [text], "date", zone=zone) == [None]


@pytest.mark.parametrize(
    "pattern, text, expected",
    [
        ("dd.MM.yyyy HH:mm", "01.07.2026 12:00", VIENNA),
        ("yyyy-MM-dd-HHmm", "2026-07-01-1200", VIENNA),  # no zone, though it looks so
        ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2026-07-01T10:00:00Z", VIENNA),
        ("dd.MM.yyyy HH:mm XXX", "01.07.2026 12:00 +02:00", VIENNA),
        ("dd.MM.yyyy HH:mm[ XXX]", "01.07.2026 12:00 +02:00", VIENNA),
        ("dd.MM.yyyy HH:mm[ XXX]", "01.07.2026 12:00", VIENNA),
        ("yyyy-MM-dd HH:mm:ss[x]", f"{SUMMER}+02", VIENNA),
        ("MM/dd/yyyy hh:mm a[ VV]", "07/01/2026 12:00 PM", VIENNA),
        ("yyyyMMdd", "20260701", "2026-06-30 22:00:00"),
    ],
)
def test_a_declared_format_says_whether_there_is_a_zone(spark, pattern, text, expected):
    assert read(spark, [text], pattern=pattern) == [expected]


def test_days_have_no_zone(spark):
    texts = ["2026-07-01", "2026-07-01 23:59:59", "0001-01-01"]
    assert read(spark, texts, "date") == ["2026-07-01", "2026-07-01", "0001-01-01"]
    assert read(spark, ["1.7.2026"], "date", "d.M.yyyy") == ["2026-07-01"]


def test_both_engines_read_times_of_before_1900_as_they_stand():
    said = {
        key: value
        for key, value in streamer_options._SPARK.items()
        if "rebase" in key.lower() or "timeZone" in key
    }
    assert said.items() <= CONFIGURATION.items()
    assert "spark.sql.parquet.int96RebaseModeInRead" in said


def test_no_change_of_a_night_in_which_clocks_are_set_ranks_before_an_earlier_one(
    spark,
):
    for zone, night in NIGHTS:
        begin = datetime.fromisoformat(night).replace(tzinfo=timezone.utc)
        moments = [begin + timedelta(minutes=each) for each in range(-240, 240, 5)]
        texts = [
            f"{each.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" for each in moments
        ]
        rows = spark.createDataFrame([*enumerate(texts)], "position int, text string")
        read = rows.selectExpr(
            "position", f"{timestamp('text', 'timestamp', None, zone)} AS at"
        )
        ranked = read.selectExpr("*", f"{rank_of_clock('at', zone)} AS rank").cache()
        by_rank = [row.position for row in ranked.orderBy("rank", "position").collect()]
        assert by_rank == [*range(len(texts))], zone
        # Times that come once keep their own place, whatever the files' order.
        own = ranked.where("at = rank").count()
        twice = len(texts) - len({*texts})
        assert own == len(texts) - 2 * twice + 2 * (twice > 0), zone
