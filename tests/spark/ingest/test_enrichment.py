"""Orders are given the continent of their country as they are ingested.

Published as: a stream of orders joined with countries that change, one row per uuid,
the newest by a date that is text (`m/d/yy`). Countries come as snapshots.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lake_check.parsing.loader import load_domain
from tests.spark.erasing import ask
from tests.spark.lake import DOMAIN, Lake

COUNTRIES = """
name: countries
description: Countries and their continents
owner: test-team
source:
  kind: snapshot
  path: tests/countries
  files: "*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "^(.*)[.]csv$"}
columns: {name: string, continent: string, code: int}
key: [name]
current: {deletes: soft}
storage: {buckets: 1}
"""
ORDERS = """
name: orders
description: Orders with the continent of their country
owner: test-team
source:
  kind: feed
  path: tests/orders
  format: {type: json}
  placeholder: __debezium_unavailable_value
  enrich:
    - table: countries
      by: {country: name}
      columns: [continent, code]
      rename: {code: country_code}
columns:
  uuid: string
  country: string
  order_date: {type: date, format: M/d/yy}
  pieces: int
key: [uuid]
order_by: [order_date]
effective_at: order_date
storage: {buckets: 1}
"""


class Trade:
    """The lakes of both tables."""

    def __init__(self, spark, root: Path, orders: str = ORDERS) -> None:
        specs = root / "specs" / "tests"
        specs.mkdir(parents=True)
        (specs / "_domain.yml").write_text(DOMAIN)
        (specs / "countries.yml").write_text(COUNTRIES)
        (specs / "orders.yml").write_text(orders)
        domain = load_domain("tests", root / "specs").tables
        found = {each.name: Lake(spark, root, each, domain) for each in domain}
        self.countries, self.orders = found["countries"], found["orders"]

    def land_countries(self, day: str, *rows: str) -> None:
        """A snapshot of all countries, and current as of it."""
        text = "name,continent,code\n" + "".join(f"{row}\n" for row in rows)
        self.countries.land(f"{day}.csv", text)
        self.countries.done("incremental")

    def land_orders(self, number: int, *rows: tuple) -> None:
        """A change file of (uuid, country, order date, pieces) rows."""
        names = ("uuid", "country", "order_date", "pieces")
        texts = [
            "{" + ", ".join(f'"{n}": "{v}"' for n, v in zip(names, row)) + "}\n"
            for row in rows
        ]
        self.orders.land(f"changes/{number}.json", "".join(texts))

    def take(self) -> None:
        """A run of the orders."""
        self.orders.done("incremental", "scd2")

    def found(self) -> dict:
        """Of each order in current: date, pieces, continent, country_code."""
        rows = self.orders.current.collect()
        names = ("order_date", "pieces", "continent", "country_code")
        return {
            row.uuid: (str(row[names[0]]), *[row[n] for n in names[1:]]) for row in rows
        }


@pytest.fixture(scope="module")
def trade(spark, tmp_path_factory):
    """Two rounds, between which a continent changed and a country went."""
    made = Trade(spark, tmp_path_factory.mktemp("trade"))
    made.land_countries(
        "2026-01-01", "Peru,America,51", "Mali,Africa,223", "Fiji,Asia,679"
    )
    made.land_orders(
        1,
        ("a", "Peru", "12/31/25", 1),
        ("b", "Mali", "2/1/26", 2),
        ("c", "Atlantis", "2/1/26", 3),
        ("d", "Fiji", "2/1/26", 4),
    )
    made.take()
    made.first = made.found()
    made.land_countries("2026-02-01", "Peru,South America,51", "Fiji,Oceania,679")
    made.land_orders(
        2,
        ("a", "Peru", "2/3/26", 10),  # as text before 12/31/25
        ("b", "Mali", "12/9/25", 20),  # as text before 2/1/26, and older
        ("e", "Mali", "2/4/26", 5),
        ("f", "Fiji", "2/4/26", 6),
        ("d", "__debezium_unavailable_value", "2/5/26", 40),
    )
    made.take()
    return made


@pytest.mark.nightly
def test_absent_columns_to_join_by_keep_what_was_given(spark, tmp_path):
    text = ORDERS.replace("  enrich:", "  absent_fields: unchanged\n  enrich:")
    made = Trade(spark, tmp_path, text)
    made.land_countries("2026-01-01", "Peru,America,51", "Fiji,Asia,679")
    made.land_orders(1, ("a", "Peru", "2/1/26", 1), ("d", "Fiji", "2/1/26", 4))
    made.take()
    made.land_countries("2026-02-01", "Peru,South America,51", "Fiji,Oceania,679")
    lines = (
        '{"uuid": "a", "order_date": "2/2/26", "pieces": 10}\n'
        '{"uuid": "d", "order_date": "2/2/26", "country": "Fiji"}\n'
        '{"uuid": "d", "order_date": "2/3/26", "country": null}\n'
        '{"uuid": "d", "order_date": "2/4/26", "pieces": 5}\n'
    )
    made.orders.land("changes/2.json", lines)
    made.take()
    assert made.found() == {
        "a": ("2026-02-02", 10, "America", 51),
        "d": ("2026-02-04", 5, None, None),
    }
    given = made.orders.history.where("uuid = 'd'").orderBy("valid_from").collect()
    assert [row.continent for row in given] == ["Asia", "Oceania", None, None]


@pytest.mark.nightly
def test_rows_are_given_values_by_a_left_join(trade):
    assert trade.first == {
        "a": ("2025-12-31", 1, "America", 51),
        "b": ("2026-02-01", 2, "Africa", 223),
        "c": ("2026-02-01", 3, None, None),
        "d": ("2026-02-01", 4, "Asia", 679),
    }


def test_the_next_round_sees_the_newest_reference_and_dates_are_dates(trade):
    assert trade.found() == {
        "a": ("2026-02-03", 10, "South America", 51),
        "b": ("2026-02-01", 2, "Africa", 223),
        "c": ("2026-02-01", 3, None, None),
        "d": ("2026-02-05", 40, "Asia", 679),  # its country was not sent again
        "e": ("2026-02-04", 5, None, None),  # Mali is gone
        "f": ("2026-02-04", 6, "Oceania", 679),
    }


def test_history_keeps_what_each_event_was_given(trade):
    told = [row for row in trade.orders.versions("continent") if row[0] in "ab"]
    assert told == [
        ("a", "America", "2025-12-31 00:00:00", "2026-02-03 00:00:00"),
        ("a", "South America", "2026-02-03 00:00:00", None),
        ("b", None, "2025-12-09 00:00:00", "2026-02-01 00:00:00"),
        ("b", "Africa", "2026-02-01 00:00:00", None),
    ]


@pytest.mark.nightly
def test_all_of_it_stands_in_the_change_log(trade):
    assert trade.orders.verify().error is None
    before = trade.found()
    trade.orders.done("rebuild")
    assert trade.found() == before


def test_a_files_column_of_that_name_is_stored_under_another(trade):
    row = '{"uuid": "z", "order_date": "2/9/26", "Continent": "Mu"}\n'
    trade.orders.land("changes/3.json", row)
    (report,) = trade.orders.done("incremental")
    (told,) = [each for each in report.warnings if "'Continent'" in each]
    assert told.startswith(
        "ColumnRenamed: changes/3.json: column 'Continent' is stored as 'source_continent'"
    )
    rows = {row.source_continent for row in trade.orders.current.collect()}
    assert rows == {None, "Mu"}


def test_keys_of_a_reference_table_cannot_be_erased(trade):
    asked = ask(trade.countries, {"name": "Peru"})
    report = trade.countries.run("erase", request_uri=asked)
    assert report.error["type"] == "NotErasable"
    assert "the rows of orders were given values of it (enrich)" in (
        report.error["message"]
    )


@pytest.mark.nightly
def test_without_a_reference_table_nothing_is_taken_until_it_is_there(spark, tmp_path):
    made = Trade(spark, tmp_path)
    made.land_orders(1, ("a", "Peru", "1/2/26", 1))
    report = made.orders.run("incremental")
    assert report.error["type"] == "ReferenceNotBuilt"
    assert report.error["message"].startswith(
        "tests.countries has no current table yet, so there are no values to add. Load it first"
    )
    made.land_countries("2026-01-01", "Peru,America,51")
    made.take()
    assert made.found() == {"a": ("2026-01-02", 1, "America", 51)}
