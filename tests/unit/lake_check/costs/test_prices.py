"""Prices are read strictly and make a cost of a cluster's minutes by type."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lake_check.costs.prices import load_prices
from lake_spec.diagnostics.errors import SpecErrors

from tests.unit.lake_check.spec_files import without_id

COST_PAGE = Path(__file__).parents[4] / "docs/cost.md"
SOUND = """\
currency: USD
instance_hours:
  m7g.xlarge: {ec2: 1.20, spot: 0.30, emr: 0.60}
  r7g.large: {ec2: 6, emr: 0}
"""


@pytest.fixture
def prices(tmp_path):
    def load(text=SOUND):
        file = tmp_path / "prices.yml"
        file.write_text(text)
        return load_prices(file)

    return load


def diagnostics(call):
    """The faults that a call raises, their files without folders."""
    with pytest.raises(SpecErrors) as caught:
        call()
    found = caught.value.diagnostics
    return [
        without_id(str(replace(diagnostic, file=Path(diagnostic.file).name)))
        for diagnostic in found
    ]


def entry(by_type, *, minutes=0.0, instances=0):
    return {
        "cluster": "j-1",
        "instances": instances,
        "instance_minutes": minutes,
        "instance_minutes_by_type": by_type,
    }


@pytest.mark.parametrize(
    "old, new, diagnostic",
    [
        (
            "currency: USD",
            "curency: USD",
            "prices.yml:1: curency: unknown key. Did you mean 'currency'?"
            " A price list takes: currency, instance_hours.",
        ),
        (
            "currency: USD\n",
            "",
            "prices.yml:1: currency: missing. Currency of all prices, three capital"
            " letters. Write for example `currency: USD`.",
        ),
        (
            "currency: USD",
            "currency: $",
            "prices.yml:1: currency: got '$'. Write three capital letters, as in USD"
            " or EUR.",
        ),
        (
            "spot: 0.30",
            "spott: 0.30",
            "prices.yml:3: instance_hours.m7g.xlarge.spott: unknown key. Did you mean"
            " 'spot'? m7g.xlarge takes: ec2, emr, spot.",
        ),
        (
            "ec2: 1.20",
            'ec2: "1.20"',
            "prices.yml:3: instance_hours.m7g.xlarge.ec2: got '1.20'. Write a number.",
        ),
        (
            "ec2: 1.20",
            "ec2: .nan",
            "prices.yml:3: instance_hours.m7g.xlarge.ec2: got '.nan'. Write a number.",
        ),
        (
            "emr: 0.60",
            "emr: true",
            "prices.yml:3: instance_hours.m7g.xlarge.emr: got true. Write a number.",
        ),
        (
            "spot: 0.30",
            "spot: -0.3",
            "prices.yml:3: instance_hours.m7g.xlarge.spot: got -0.3. Write the price "
            "of one hour, 0 or more.",
        ),
        (
            ", emr: 0.60",
            "",
            "prices.yml:3: instance_hours.m7g.xlarge.emr: missing. EMR's price of an"
            " hour, in addition to EC2's, the same on Spot. Write for example"
            " `emr: 0.25`.",
        ),
        (
            "r7g.large: {ec2: 6, emr: 0}",
            "r7g.large: 6",
            "prices.yml:4: instance_hours.r7g.large: got 6. Write settings, of these:"
            " ec2, emr, spot.",
        ),
        (
            "r7g.large",
            "m7g.xlarge",
            "prices.yml:4: instance_hours.m7g.xlarge: duplicate key. Keep one; the "
            "first is in line 3.",
        ),
    ],
)
def test_a_mistake_is_told_with_file_key_value_and_hint(prices, old, new, diagnostic):
    assert old in SOUND
    assert diagnostics(lambda: prices(SOUND.replace(old, new, 1))) == [diagnostic]


def test_all_mistakes_are_told_at_once(prices):
    text = (
        SOUND.replace("USD", "usd").replace("1.20", "-1").replace("emr: 0}", "emr: x}")
    )
    lines = [each.split(": ")[0] for each in diagnostics(lambda: prices(text))]
    assert lines == ["prices.yml:1", "prices.yml:3", "prices.yml:4"]


@pytest.mark.parametrize(
    "text, diagnostic",
    [
        ("", "prices.yml: the file is empty."),
        ("USD", "prices.yml:1: got 'USD'. Write settings, of these: currency,"),
        ("a: {", "prices.yml:2: not YAML: "),
    ],
)
def test_a_file_that_is_no_price_list_is_refused(prices, text, diagnostic):
    (found,) = diagnostics(lambda: prices(text))
    assert found.startswith(diagnostic)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert diagnostics(lambda: load_prices(tmp_path / "prises.yml")) == [
        "prises.yml: no such file. Write it as docs/cost.md shows, with your own prices."
    ]


def test_prices_that_the_ledger_needs_and_the_file_lacks_are_all_told(prices):
    lacking = [
        entry({"m7g.xlarge": {"spot": 60.0}, "c7g.large": {"on_demand": 1.0}}),
        entry({"r7g.large": {"on_demand": 60.0, "spot": 3.0}}),
        entry({"r7g.large": {"spot": 3.0}}),
        entry(None),
    ]
    assert diagnostics(lambda: prices().require(lacking)) == [
        "prices.yml:2: instance_hours.c7g.large: no prices of 'c7g.large', which cluster"
        " j-1 had. Known: m7g.xlarge, r7g.large. Add `c7g.large: {ec2: ..., emr:"
        " ...}` with your prices of an hour.",
        "prices.yml:4: instance_hours.r7g.large.spot: no price of 'r7g.large' on "
        "Spot, which cluster j-1 had. Known: ec2, emr. Add `spot: ...` with your "
        "price of an hour.",
    ]


def test_a_cost_is_of_all_types_and_markets_emr_beside_ec2(prices):
    by_type = {
        "m7g.xlarge": {"on_demand": 60.0, "spot": 30.0},
        "r7g.large": {"on_demand": 10.0},
    }
    found = prices().of(entry(by_type))
    assert found == pytest.approx((1.20 + 0.60) + (0.30 + 0.60) / 2 + 6 / 6)


def test_an_entry_without_types_has_no_cost_and_one_without_instances_costs_nothing(
    prices,
):
    loaded, old = prices(), entry({})
    assert (loaded.of(old), loaded.of(old, 9.0)) == (0, 0)
    del old["instance_minutes_by_type"]
    assert (loaded.of(old), loaded.of(entry(None), 9.0)) == (None, None)


def test_more_minutes_cost_the_mean_of_the_clusters_minutes(prices):
    by_type = {"m7g.xlarge": {"on_demand": 20.0}, "r7g.large": {"on_demand": 20.0}}
    of = entry(by_type, minutes=40.0, instances=2)
    mean = (1.80 + 6) / 2 / 60
    assert prices().of(of, 9.0) == pytest.approx(mean * (40 + 18))
    assert prices().of(of, -9.0) == pytest.approx(mean * (40 - 18))


def test_what_is_billed_beyond_a_life_is_not_added_to_more_minutes(prices):
    """Two instances that lived a quarter of a minute each, as on a laptop."""
    of = entry({"r7g.large": {"on_demand": 2.0}}, minutes=0.5, instances=2)
    told = [prices().of(of, more) for more in (0, 0.5, 9.75, -0.25)]
    assert told == pytest.approx([2 * 0.1, 2 * 0.1, 20 * 0.1, 2 * 0.1])


def test_the_example_of_the_page_costs_what_the_page_says(prices):
    page = COST_PAGE.read_text("utf-8")
    loaded = prices(re.search(r"```yaml\n(.*?)```", page, re.DOTALL).group(1))
    by_type = {"m7g.xlarge": {"on_demand": 63.6, "spot": 31.8}}
    assert loaded.of(entry(by_type)) == pytest.approx(1.7225)
    for figure in ("1.325", "0.3975", "1.7225", "51.68", "1,240.20", "2,340.00"):
        assert figure in page
    daily = 30 * 1.7225
    assert (f"{daily:.3f}", f"{24 * daily:,.2f}") == ("51.675", "1,240.20")
    assert 30 * 24 * (2 * 1.25 + 0.75) == 2340
