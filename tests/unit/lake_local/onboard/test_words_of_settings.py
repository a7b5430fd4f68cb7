"""What onboarding writes of a setting is what its field says: other words, other comments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_check.parsing.loader import load_domain
from lake_local.onboard import origin, plan
from lake_local.onboard.catalog import Catalog, Column, Index, Table
from lake_local.onboard.files import Request, planned
from lake_local.onboard.origin import JDBC, Origin
from lake_local.onboard.stores import LocalFolder
from lake_local.onboard.suggested_rules import Suggestion, rules_text
from lake_spec.model import Complete, Rule, TableSpec
from lake_spec.model.choices import OnFail
from lake_spec.model.field_types import shape_of
from lake_spec.model.limits import Form
from lake_spec.state.table_profile import TableProfile
from tests.unit.lake_check.spec_files import FEED, SpecFiles

PLANTED = "Words of a test"
FILES = {
    "marker": ["2026-01-01/a.csv", "2026-01-01/b.csv", "2026-01-01/_SUCCESS"],
    "manifest": ["2026-01-01/a.csv", "2026-01-01/manifest.json"],
    "parts": ["2026-01-01/part-0-of-2.csv", "2026-01-01/part-1-of-2.csv"],
}
BY_CURSOR = Table(
    "orders",
    (Column("id", "integer", nullable=False), Column("updated_at", "timestamp")),
    (Index("orders_pkey", ("id",), unique=True, primary=True),),
)


def plant(monkeypatch, cls, name, **other):
    """Let the model say something else of a setting."""
    settings = shape_of(cls).settings
    monkeypatch.setitem(settings, name, replace(settings[name], **other))


def of_files(folder, names):
    for name in names:
        file = folder / "files/things" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("id,note\n1,a\n" if name.endswith(".csv") else "[]")
    (draft,) = planned(LocalFolder(folder / "files"), Request("shop", "shop/exports"))
    return draft.text.text


def words_of(text):
    """The comments that stand alone in their lines, put together."""
    lines = (each.strip() for each in text.splitlines())
    return " ".join(each[2:].strip() for each in lines if each.startswith("# "))


@pytest.mark.parametrize("name", FILES)
def test_what_tells_a_complete_snapshot_is_explained_by_its_field(
    tmp_path, monkeypatch, name
):
    doc = shape_of(Complete).settings[name].doc
    assert doc in words_of(of_files(tmp_path, FILES[name]))
    plant(monkeypatch, Complete, name, doc=PLANTED)
    changed = of_files(tmp_path, FILES[name])
    assert f"  # {PLANTED}\n  complete: {{{name}: " in changed
    assert doc not in words_of(changed)


def test_proposed_rules_say_what_becomes_of_a_row_as_the_choices_do(
    tmp_path, monkeypatch
):
    files = SpecFiles(tmp_path)
    files.put("tables/sales/orders.yml", FEED)
    (spec,) = load_domain("sales", files.tables).tables
    at = "2026-11-26T12:00:00+00:00"
    profile = TableProfile("sales", "orders", "r", at, "1", 1000, ())
    rule = Suggestion("id", "not_null", True, "each of 1,000 rows has a value")
    text = words_of(rules_text(spec, profile, [rule]))
    assert "left out, it is `quarantine`." in text
    assert "warn: It is kept, and a warning counts it." in text
    plant(monkeypatch, Rule, "on_fail", default=OnFail.FAIL)
    assert "left out, it is `fail`." in words_of(rules_text(spec, profile, [rule]))


def test_names_that_can_be_pulled_are_those_of_the_settings_form(monkeypatch):
    by_query = Origin(JDBC, "shop_db")
    assert by_query.refusal("shop", "orders") == ""
    monkeypatch.setattr(origin, "TABLE", Form("[0-9]+", PLANTED))
    assert PLANTED in by_query.refusal("shop", "orders")


def test_the_start_of_history_is_explained_by_its_setting(monkeypatch):
    catalog = Catalog("postgresql", "shop", (BY_CURSOR,))
    assert 'load_effective_at: "1900-01-01"' in head_of(catalog)
    plant(monkeypatch, TableSpec, "load_effective_at", doc=PLANTED, example="1800")
    assert f'load_effective_at: "1800". {PLANTED}' in head_of(catalog)


def head_of(catalog):
    request = plan.Request("shop", Origin(JDBC, "shop_db"))
    (draft,) = plan.planned(catalog, request)
    return words_of(draft.text.text)
