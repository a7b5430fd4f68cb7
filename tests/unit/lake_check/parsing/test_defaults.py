"""Defaults lie under every table; a table's own word wins."""

from lake_check.parsing.loader import load_domain
from lake_spec.model import Csv, Engine, Parquet, ReadableAs, TableType

from tests.unit.lake_check.spec_files import FEED, SNAPSHOT, changed


def orders(specs):
    return load_domain("sales", specs.tables).tables[0]


def test_defaults_are_merged_key_by_key(specs):
    specs.put("tables/_defaults.yml", "storage: {type: merge_on_read, buckets: 8}\n")
    specs.put("tables/sales/orders.yml", changed(FEED, {"storage.buckets": 16}))
    assert orders(specs).storage.type is TableType.MERGE_ON_READ
    assert orders(specs).storage.buckets == 16


def test_lists_are_replaced_and_not_joined(specs):
    specs.put("tables/_defaults.yml", "order_by: [status]\n")
    assert orders(specs).order_by == ("updated_at",)


def test_formats_for_readers_can_be_taken_back_by_an_empty_list(specs):
    specs.put("tables/_defaults.yml", "storage: {readable_as: [iceberg, delta]}\n")
    assert orders(specs).storage.readable_as == (ReadableAs.ICEBERG, ReadableAs.DELTA)
    specs.put("tables/sales/orders.yml", changed(FEED, {"storage.readable_as": []}))
    assert orders(specs).storage.readable_as == ()


def test_defaults_of_a_domain_lie_over_those_of_all(specs):
    specs.put("tables/_defaults.yml", "storage: {readable_as: [delta], buckets: 8}\n")
    specs.put("tables/sales/_defaults.yml", "storage: {readable_as: [iceberg]}\n")
    assert orders(specs).storage.readable_as == (ReadableAs.ICEBERG,)
    assert orders(specs).storage.buckets == 8
    specs.put("tables/sales/orders.yml", changed(FEED, {"storage.readable_as": []}))
    assert orders(specs).storage.readable_as == ()


def test_defaults_of_a_domain_need_none_of_all(specs):
    specs.put("tables/sales/_defaults.yml", "storage: {buckets: 4}\n")
    assert orders(specs).storage.buckets == 4
    assert specs.diagnostics() == []


def test_a_diagnostic_in_the_defaults_of_a_domain_names_their_file(specs):
    specs.put("tables/_defaults.yml", "storage: {buckets: 8}\n")
    specs.put("tables/sales/_defaults.yml", "storage:\n  readable_as: [csv]\n")
    assert specs.diagnostics() == [
        "tables/sales/_defaults.yml:2: storage.readable_as[0]: got 'csv'."
        " Choose one of: iceberg, delta."
    ]


def test_a_default_can_be_taken_back(specs):
    specs.put("tables/_defaults.yml", "load_effective_at: 1900-01-01\n")
    specs.put("tables/sales/orders.yml", changed(FEED, {"load_effective_at": None}))
    assert orders(specs).load_effective_at is None


def test_defaults_can_supply_what_is_required(specs):
    spec = {key: value for key, value in FEED.items() if key != "owner"}
    specs.put("tables/_defaults.yml", "owner: platform-team\n")
    specs.put("tables/sales/orders.yml", spec)
    assert orders(specs).owner == "platform-team"


def test_defaults_of_the_same_kind_are_merged(specs):
    specs.put("tables/_defaults.yml", 'source: {format: {type: csv, delimiter: ";"}}\n')
    assert orders(specs).source.format == Csv(delimiter=";")


def test_defaults_of_another_kind_fall_away(specs):
    specs.put("tables/_defaults.yml", 'source: {format: {type: csv, delimiter: ";"}}\n')
    parquet = changed(FEED, {"source.format": {"type": "parquet"}})
    specs.put("tables/sales/orders.yml", parquet)
    assert orders(specs).source.format == Parquet()


def test_defaults_that_only_other_kinds_of_tables_take_fall_away(specs):
    specs.put("tables/_defaults.yml", "order_by: [updated_at]\nengine: streamer\n")
    stock = changed(SNAPSHOT, {"name": "stock", "source.path": "sales/stock"})
    specs.put("tables/sales/stock.yml", stock)
    assert specs.diagnostics() == []
    feed, snapshot = load_domain("sales", specs.tables).tables
    assert (feed.engine, feed.order_by) == (Engine.STREAMER, ("updated_at",))
    assert (snapshot.engine, snapshot.order_by) == (Engine.PYSPARK, ())


def test_columns_of_all_tables_can_stand_in_the_defaults(specs):
    specs.put("tables/_defaults.yml", "columns: {loaded_by: string}\n")
    assert [name for name, _ in orders(specs).columns][:2] == ["loaded_by", "order_id"]


def test_a_diagnostic_in_the_defaults_is_told_once_and_at_their_file(specs):
    specs.put("tables/_defaults.yml", "engine: pyspark\nstorage:\n  bukets: 4\n")
    customers = changed(FEED, {"name": "customers", "source.path": "sales/customers"})
    specs.put("tables/sales/customers.yml", customers)
    assert specs.diagnostics() == [
        "tables/_defaults.yml:3: storage.bukets: unknown key. Did you mean 'buckets'?"
        " storage takes: type, index, buckets, partition_by, sort_by, readable_as,"
        " table_version, shuffle."
    ]


def test_defaults_that_are_no_settings_are_refused(specs):
    specs.put("tables/_defaults.yml", "[1]\n")
    assert specs.diagnostics() == [
        "tables/_defaults.yml:1: got [1]. Write the settings of a table, or remove the"
        " file."
    ]
