"""One look at a bad spec tells everything that is wrong with it."""

import pytest

from lake_check.parsing.loader import load_domain, load_lake
from lake_spec.diagnostics.errors import SpecErrors

from tests.unit.lake_check.spec_files import without_id

TEN_MISTAKES = """\
name: orders
description: Orders of the shop, one row per order
owner: airflow
engin: pyspark
source:
  kind: feed
  path: ../orders
  format: {type: cvs}
  operation: {column: Op}
columns:
  order_id: lonng
  amount: decimal(10,2)
  updated_at: timestamp
order_by: [updatd_at]
history:
  traked: [amount]
  deletes: soft_ish
storage: {buckets: many}
storage: {buckets: 4}
quality:
  - {column: amount, at_least: 0, at_most: 9}
"""

TEN_MESSAGES = [
    "tables/sales/orders.yml:1: key: missing. Columns that identify a row. Write for"
    " example `key: [id]`.",
    "tables/sales/orders.yml:3: owner: got 'airflow'. Name a team in more than 5 "
    "characters whom people can ask, as in museum-data; not airflow.",
    "tables/sales/orders.yml:4: engin: unknown key. Did you mean 'engine'? A feed takes:"
    " name, domain, description, owner, source, key, engine, storage, profile, maintenance,"
    " checks, quarantine, formerly, current, history, columns, effective_at,"
    " load_effective_at, future_dates, quality, order_by.",
    "tables/sales/orders.yml:7: source.path: got '../orders'. Write folders joined by"
    " single slashes, of A-Z a-z 0-9 _ . = + @ -, as in sales/orders; no leading slash"
    " and no `..`.",
    "tables/sales/orders.yml:8: source.format.type: got 'cvs'. Did you mean 'csv'? Choose"
    " one of: csv, json, parquet, avro, orc.",
    "tables/sales/orders.yml:11: columns.order_id.type: got 'lonng'. Did you mean 'long'?"
    " Types: string, boolean, tinyint, byte, smallint, short, int, integer, bigint, long,"
    " float, double, date, timestamp, binary, decimal(p,s), array<type>, map<type, type>,"
    " struct<name: type, ...>.",
    "tables/sales/orders.yml:14: order_by[0]: 'updatd_at' is not a declared column. "
    "Did you mean 'updated_at'? Declared columns: order_id, amount, updated_at.",
    "tables/sales/orders.yml:16: history.traked: unknown key. Did you mean 'track'?"
    " history takes: track, ignore, deletes, open_end, surrogate_key, columns.",
    "tables/sales/orders.yml:17: history.deletes: got 'soft_ish'. Choose one of: close,"
    " tombstone.",
    "tables/sales/orders.yml:18: storage.buckets: got 'many'. Write a whole number.",
    "tables/sales/orders.yml:19: storage: duplicate key. Keep one; the first is in "
    "line 18.",
    "tables/sales/orders.yml:21: quality[0]: has at_least and at_most. Write exactly "
    "one test of: not_null, one_of, matches, at_least, at_most.",
]


def test_every_mistake_of_a_file_is_told_with_line_key_value_and_hint(specs):
    specs.put("tables/sales/orders.yml", TEN_MISTAKES)
    assert specs.diagnostics() == TEN_MESSAGES


def test_mistakes_of_all_files_are_told_at_once(specs):
    specs.put("tables/sales/orders.yml", TEN_MISTAKES)
    specs.put("tables/sales/_domain.yml", "name: sales\nowner: sales-data\n")
    specs.put("clusters/standard.yml", "name: standard\nmax_hours: 0\n")
    with pytest.raises(SpecErrors) as caught:
        load_lake(specs.tables, clusters=specs.clusters)
    files = [
        diagnostic.file.rsplit("/", 1)[1] for diagnostic in caught.value.diagnostics
    ]
    assert files == ["standard.yml", "_domain.yml"] + ["orders.yml"] * 12


def test_a_diagnostic_keeps_its_parts_for_programs(specs):
    specs.put("tables/sales/orders.yml", TEN_MISTAKES)
    with pytest.raises(SpecErrors) as caught:
        load_domain("sales", specs.tables)
    diagnostic = caught.value.diagnostics[8]
    assert (diagnostic.line, diagnostic.key_path, diagnostic.value) == (
        17,
        "history.deletes",
        "soft_ish",
    )
    assert diagnostic.message == "got 'soft_ish'"
    assert diagnostic.hint == "Choose one of: close, tombstone."
    assert diagnostic.rule == "value-not-allowed"


def test_the_error_says_what_each_diagnostic_says(specs):
    specs.put("tables/sales/orders.yml", TEN_MISTAKES)
    with pytest.raises(SpecErrors, match="Did you mean 'track'") as caught:
        load_domain("sales", specs.tables)
    lines = str(caught.value).replace(f"{specs.root}/", "").splitlines()
    assert [without_id(line) for line in lines] == TEN_MESSAGES
