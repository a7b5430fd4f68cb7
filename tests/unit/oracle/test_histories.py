"""The generator of histories: always the same ones, and varied enough to prove."""

from __future__ import annotations

import pytest

from lake_check.parsing.loader import load_domain
from tests.oracle.histories import FRESH, Features, landing
from tests.oracle.oracle import DELETE, TRUNCATE, UNAVAILABLE, accepted, tables
from tests.oracle.tables import SPECS, settings_of

pytestmark = pytest.mark.nightly  # by day: test_history_properties plays what it makes
ALL = Features(bad_rows=True, truncates=True, placeholders=True, full_refresh=True)
SAID = "description: Things that change\nowner: test-team\n"


@pytest.fixture(params=SPECS)
def spec(request, tmp_path):
    home = tmp_path / "tests"
    home.mkdir()
    (home / "_domain.yml").write_text("name: tests\n" + SAID)
    (home / "things.yml").write_text("name: things\n" + SAID + SPECS[request.param])
    return load_domain("tests", tmp_path).tables[0]


def test_a_seed_makes_the_same_histories_alone_or_with_others(spec):
    many = landing(spec, 7, list(range(20))).deliveries()
    alone = landing(spec, 7, [11]).deliveries()
    assert told(each for each in many if each.key[0] == 11) == told(alone)


def told(events):
    """What each file holds, in the files' order."""
    by_file = sorted(events, key=lambda each: each.path)
    return [(each.path, each.op, str(each.values)) for each in by_file]


def test_they_hold_what_breaks_folds(spec):
    settings = settings_of(spec)
    events = landing(spec, 7, list(range(100))).deliveries()
    deletes = [each for each in events if each.op == DELETE]
    changes = [each for each in events if not each.is_load]
    order = [(e.key, *(e.values[n] for n in spec.order_by)) for e in changes]
    assert all(accepted(each, settings) for each in events)
    assert 0.1 < len(deletes) / len(changes) < 0.3
    assert len(set(map(str, order))) < 0.7 * len(order)
    assert 30 < sum(each.is_load for each in events) < len(events) / 2
    current, history = tables(events, settings)
    assert len(history) > len(current) > 60


def test_what_tables_do_not_take_yet_comes_by_features_alone(spec):
    events = landing(spec, 7, list(range(300)), ALL).deliveries()
    assert any(each.op == TRUNCATE for each in events)
    assert any(each.values.get("note") == UNAVAILABLE for each in events)
    assert any(each.full_refresh_at for each in events)
    assert not all(accepted(each, settings_of(spec)) for each in events)
    _, history = tables(events, settings_of(spec))
    assert all(row.values.get("note") != UNAVAILABLE for row in history)


def test_files_of_three_shapes_say_less_or_more(spec):
    landed = landing(spec, 7, list(range(100)), Features(shapes=True))
    declared = {name for name, _ in spec.columns} - {*spec.path_columns}
    shapes = set(landed.shapes.values())
    assert len(shapes) == 3 and len({each.capitals for each in shapes}) == 2
    assert any(not declared <= set(each.names) for each in shapes)
    dropped = {name for name, column in spec.columns if column.dropped}
    for path, records in landed.files.items():
        for name in declared - set(landed.shapes[path].names):
            unsent = name in dropped or spec.keeps_absent
            expected = UNAVAILABLE if unsent else None
            assert {each.values[name] for each in records} == {expected}
    fresh = [each.values.get(FRESH) for each in landed.deliveries()]
    assert {"f", "g", None} == set(fresh) - {UNAVAILABLE}
