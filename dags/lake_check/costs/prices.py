"""Prices that their reader fills in, and what a cluster of the ledger costs by them.

We ship no prices: they differ by region, contract and day. Nothing is guessed: a type
that the ledger has and the file lacks is a fault, an entry without types has no cost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple

from lake_check.messages.parsing_ids import ParsingId
from lake_check.parsing.discovery import Survey, read_document
from lake_check.parsing.from_yaml import decode
from lake_check.parsing.node import Node
from lake_spec.diagnostics.diagnostic import Diagnostic, Problem, got
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.model.spec_field import setting

ON_DEMAND = "on_demand"
SPOT = "spot"
"""Markets of `instance_minutes_by_type` of an entry."""

LEAST_BILLED = 1.0
"""Minutes that EC2 and EMR bill at least for an instance; after these, seconds."""


@dataclass(frozen=True)
class InstanceHour:
    """Prices of one hour of an instance type."""

    ec2: float = setting("EC2's on-demand price of an hour.", example=1.0)
    emr: float = setting(
        "EMR's price of an hour, in addition to EC2's, the same on Spot.", example=0.25
    )
    spot: Optional[float] = setting(
        "EC2's Spot price of an hour; required if the ledger has Spot minutes.", None
    )


@dataclass(frozen=True)
class PriceListSpec:
    """A file of prices, all in one currency."""

    currency: str = setting(
        "Currency of all prices, three capital letters.", example="USD"
    )
    instance_hours: Tuple[Tuple[str, InstanceHour], ...] = setting(
        "Prices of an instance hour by EC2 instance type.",
        example={"m7g.xlarge": {"ec2": 1.0, "spot": 0.5, "emr": 0.25}},
    )


def load_prices(path: Path) -> Prices:
    """Load the prices of a file. Raises SpecErrors with all of its diagnostics."""
    if not path.is_file():
        hint = "Write it as docs/cost.md shows, with your own prices."
        rule = ParsingId.UNREADABLE_FILE.value
        message = "no such file"
        raise SpecErrors([Diagnostic(str(path), 0, "", None, message, hint, rule)])
    survey = Survey()
    root = read_document(survey, path).root
    if root is not None:
        decoded = decode(PriceListSpec, root)
        survey.add(decoded.diagnostics)
        if () not in decoded.broken:
            problems = _problems(decoded.spec)
            whole = (each for each in problems if each.path not in decoded.broken)
            survey.add(root.diagnostic(each) for each in whole)
    survey.close()
    assert root is not None  # else there were faults
    return Prices(decoded.spec, root)


def _problems(spec: PriceListSpec) -> Iterator[Problem]:
    if not re.fullmatch("[A-Z]{3}", spec.currency):
        hint = "Write three capital letters, as in USD or EUR."
        yield got(("currency",), spec.currency, hint, ParsingId.INVALID_PRICE.value)
    for kind, hour in spec.instance_hours:
        for name, price in vars(hour).items():
            if price is not None and price < 0:
                hint = "Write the price of one hour, 0 or more."
                path, rule = ("instance_hours", kind, name), ParsingId.INVALID_PRICE
                yield got(path, price, hint, rule.value)


class Prices:
    """The prices of one file; `column` is what a column of costs is called."""

    def __init__(self, spec: PriceListSpec, root: Node) -> None:
        self.currency = spec.currency
        self.column = f"cost_{spec.currency}"
        self._hours = dict(spec.instance_hours)
        self._root = root

    def require(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Raise SpecErrors with every price that the ledger's entries need and the
        file lacks."""
        problems: Dict[str, Problem] = {}
        for entry in entries:
            for kind, minutes in (minutes_by_type(entry) or {}).items():
                for problem in self._lacking(kind, minutes, entry["cluster"]):
                    problems.setdefault(str(problem.path), problem)
        if problems:
            raise SpecErrors(self._root.diagnostic(each) for each in problems.values())

    def of(self, entry: Mapping[str, Any], more: float = 0.0) -> Optional[float]:
        """Return the cost of a cluster; None if its entry has no instance types.

        `more` minutes of each instance (fewer, if negative) are priced at the mean
        price of the cluster's instance minutes. What an instance was billed beyond its
        life, as it ended within its first minute, is not added to them once more.
        """
        by_type = minutes_by_type(entry)
        if by_type is None:
            return None
        each = [
            (minutes, self._hour(kind, market) / 60)
            for kind, of in by_type.items()
            for market, minutes in of.items()
        ]
        billed = sum(minutes for minutes, _ in each)
        cost = sum(minutes * price for minutes, price in each)
        if not more or not billed:
            return cost
        count: int = entry["instances"]
        least = billed if more > 0 else count * LEAST_BILLED
        minutes: float = entry["instance_minutes"] + more * count
        return cost / billed * max(minutes, least)

    def _hour(self, kind: str, market: str) -> float:
        hour = self._hours[kind]
        ec2 = hour.spot if market == SPOT else hour.ec2
        assert ec2 is not None  # `require` has looked
        return ec2 + hour.emr

    def _lacking(
        self, kind: str, minutes: Mapping[str, float], cluster: str
    ) -> Iterator[Problem]:
        place, rule = ("instance_hours", kind), ParsingId.MISSING_PRICE.value
        if kind not in self._hours:
            there = ", ".join(self._hours) or "none"
            hint = (
                f"Known: {there}. Add `{kind}: {{ec2: ..., emr: ...}}` with your prices "
                "of an hour."
            )
            message = f"no prices of {kind!r}, which cluster {cluster} had"
            yield Problem(place, kind, message, hint, rule)
        elif SPOT in minutes and self._hours[kind].spot is None:
            message = f"no price of {kind!r} on Spot, which cluster {cluster} had"
            hint = "Known: ec2, emr. Add `spot: ...` with your price of an hour."
            yield Problem((*place, SPOT), kind, message, hint, rule)


def minutes_by_type(
    entry: Mapping[str, Any],
) -> Optional[Mapping[str, Mapping[str, float]]]:
    """Return the billed minutes of an entry's instances, by type and market.

    None for entries of releases that did not write them, and where EMR did not report them.
    """
    return entry.get("instance_minutes_by_type")
