"""Plain data becomes dataclasses, and every fault is found on the way."""

import pytest

from lake_check.parsing.from_yaml import decode
from lake_check.parsing.yaml_reader import parse_yaml
from lake_spec.model import (
    ClusterSpec,
    Column,
    Csv,
    DomainSpec,
    Feed,
    HistoryDeletes,
    OnFail,
    Operation,
    Rule,
    TableSpec,
)

from tests.unit.lake_check.spec_files import without_id

TABLE = """\
name: orders
description: Orders of the shop, one row per order
owner: sales-data
source:
  kind: feed
  path: sales/orders
  format: {type: csv, null_text: ["", "NULL"]}
  operation: {column: Op, delete: [X]}
columns:
  order_id: long
  amount: {type: "decimal(10,2)", source: [Amount, Total]}
key: [order_id]
history: {deletes: tombstone}
quality:
  - {column: amount, at_least: 0, on_fail: warn}
"""


def decoded(cls, text, **given):
    return decode(cls, parse_yaml(text.encode(), "f.yml").root, given=given)


def diagnostics(cls, text, **given):
    found = decoded(cls, text, **given).diagnostics
    return [without_id(str(diagnostic)) for diagnostic in found]


def test_a_table_is_read_into_its_classes():
    result = decoded(TableSpec, TABLE, domain="sales")
    assert result.diagnostics == []
    spec = result.spec
    assert spec.domain == "sales"
    assert spec.source == Feed(
        path="sales/orders",
        format=Csv(null_text=("", "NULL")),
        operation=Operation(column="Op", delete=("X",)),
    )
    assert spec.columns == (
        ("order_id", Column("long")),
        ("amount", Column("decimal(10,2)", source=("Amount", "Total"))),
    )
    assert spec.key == ("order_id",)
    assert spec.history.deletes is HistoryDeletes.TOMBSTONE
    assert spec.quality == (Rule("amount", at_least=0.0, on_fail=OnFail.WARN),)


@pytest.mark.parametrize(
    "line, diagnostic",
    [
        ("max_hours: two", "max_hours: got 'two'. Write a whole number."),
        ("max_hours: 1.0", "max_hours: got 1.0. Write a whole number."),
        ("max_hours: yes", "max_hours: got true. Write a whole number."),
        ("max_hours:", "max_hours: got nothing. Write a whole number."),
        (
            "driver_memory: 4",
            "driver_memory: got 4. Write text: put the value in quotes.",
        ),
        ("driver_memory: [4g]", "driver_memory: got ['4g']. Write text."),
        (
            "tags: [a]",
            "tags: got ['a']. Write names with a value each, as in `name: value`.",
        ),
    ],
)
def test_values_of_another_type_are_refused(line, diagnostic):
    assert diagnostics(ClusterSpec, f"name: x\n{line}\n") == [f"f.yml:2: {diagnostic}"]


def test_a_bare_value_for_a_list_is_refused_with_what_to_write():
    assert diagnostics(TableSpec, TABLE + "order_by: order_id\n", domain="sales") == [
        "f.yml:16: order_by: got 'order_id'. Write a list, as in [order_id]."
    ]


def test_a_list_item_is_refused_at_its_own_place():
    assert diagnostics(TableSpec, TABLE + "order_by:\n- a\n- {b: c}\n", domain="s") == [
        "f.yml:18: order_by[1]: got {'b': 'c'}. Write text."
    ]


def test_a_long_value_is_cut_and_its_control_characters_are_escaped():
    text = f'name: x\nmax_hours: "\\e[31m{"z" * 500}"\n'
    (diagnostic,) = diagnostics(ClusterSpec, text)
    assert "'\\x1b[31mzzz" in diagnostic and len(diagnostic) < 150


def test_a_missing_key_is_told_with_an_example():
    assert diagnostics(ClusterSpec, "max_hours: 1\n") == [
        "f.yml:1: name: missing. Name of the cluster and of its file. Write for example"
        " `name: standard`."
    ]


def test_a_misspelt_required_key_is_one_diagnostic_and_not_two():
    (diagnostic,) = diagnostics(ClusterSpec, "nmae: standard\n")
    assert diagnostic.startswith("f.yml:1: nmae: unknown key. Did you mean 'name'?")


def test_a_key_unlike_any_other_is_told_with_the_choices_alone():
    (diagnostic,) = diagnostics(DomainSpec, "zzz: 1\n" + DOMAIN, tables=())
    assert diagnostic == (
        "f.yml:1: zzz: unknown key. A domain takes: name, description, owner,"
        " contact, cluster,"
        " clusters, tags, history_runs, concurrency, schedules, stage_hours,"
        " step_per_stage, continuous, notifications, landing_grants,"
        " table_grants, readers, glossary."
    )


DOMAIN = "name: sales\ndescription: Orders of the shop\nowner: sales-data\n"


def test_the_tables_of_a_domain_are_not_written_in_its_file():
    (diagnostic,) = diagnostics(DomainSpec, DOMAIN + "tables: [orders]\n", tables=())
    assert diagnostic.startswith("f.yml:4: tables: unknown key.")


def test_a_domain_that_contradicts_its_folder_is_refused():
    assert diagnostics(TableSpec, "domain: shop\n" + TABLE, domain="sales") == [
        "f.yml:1: domain: got 'shop'. The folder is named 'sales': remove the key, or "
        "move the file."
    ]


@pytest.mark.parametrize(
    "source, diagnostic",
    [
        (
            "{path: x}",
            "source.kind: missing. Choose one of: snapshot, feed, dimension, product.",
        ),
        (
            "{kind: fed}",
            "source.kind: got 'fed'. Did you mean 'feed'? Choose one of: snapshot, feed,"
            " dimension, product.",
        ),
        (
            "{kind: [feed]}",
            "source.kind: got ['feed']. Choose one of: snapshot, feed, dimension, product.",
        ),
        (
            "files",
            "source: got 'files'. Write settings, among them `kind`: one of snapshot,"
            " feed, dimension, product.",
        ),
    ],
)
def test_a_union_wants_its_tag(source, diagnostic):
    before, after = TABLE.split("source:")[0], TABLE[TABLE.index("columns:") :]
    text = f"{before}source: {source}\n{after}"
    assert diagnostics(TableSpec, text, domain="sales") == [f"f.yml:4: {diagnostic}"]


def test_a_kind_takes_only_its_own_settings():
    text = TABLE.replace("kind: feed", "kind: feed\n  lost_share: 0.1")
    (diagnostic,) = diagnostics(TableSpec, text, domain="sales")
    assert diagnostic == (
        "f.yml:6: source.lost_share: unknown key. source takes: path, format, load,"
        " changes, operation, envelope, load_from, changes_from, full_refresh, path_columns,"
        " duplicate_keys, ignore_columns, enrich, placeholder, absent_fields,"
        " late_after_hours, timezone, new_columns, missing_columns. Only a snapshot takes it."
    )


def test_a_table_of_no_kind_is_judged_as_far_as_it_can_be():
    text = TABLE.replace("kind: feed", "kind: fed").replace("key:", "history: 7\nkye:")
    found = " ".join(diagnostics(TableSpec, text, domain="sales"))
    assert "source.kind: got 'fed'. Did you mean 'feed'?" in found
    assert "history: got 7." in found and "kye: unknown key." in found
    assert found.count("f.yml:") == 3


def test_a_file_that_is_a_list_is_refused():
    assert diagnostics(ClusterSpec, "- a\n") == [
        "f.yml:1: got ['a']. Write settings, of these: name, release_label, instances,"
        " managed_scaling, ebs_root_volume_size, tables_at_once,"
        " step_concurrency_level, start_minutes, idle_minutes, max_hours,"
        " driver_memory, spark_defaults, bootstrap_actions, tags."
    ]
