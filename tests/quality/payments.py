"""Payments with rules and checks, and the faults that are planted in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Callable, Dict, List, Set

from lake_spec.state.report import Report

ACCOUNTS = """
columns: {id: int, seen: timestamp}
key: [id]
order_by: [seen]
"""
PAYMENTS = """
columns:
  id: int
  account: int
  receipt: string
  amount: int
  fee: "decimal(8,2)"
  currency: string
  note: string
  paid_at: timestamp
  booked_at: timestamp
  seen: timestamp
key: [id]
order_by: [seen]
quality:
  - {column: currency, one_of: [EUR, USD]}
  - {column: note, matches: "^[a-z]*$", on_fail: warn}
checks:
  - {kind: unique, columns: [receipt], severity: warn}
  - {kind: row_count, at_least: 40, at_most: 90, severity: warn}
  - {kind: freshness, column: paid_at, hours: 48, layer: changes}
  - {kind: references, column: account, to: accounts.id, severity: warn}
  - {kind: expression, sql: booked_at >= paid_at, severity: warn}
  - {kind: null_share, column: note, at_most: 0.1, severity: warn}
  - kind: accepted_range
    column: fee
    aggregate: min
    at_least: 0
    severity: warn
  - {kind: drift, column: amount, aggregate: avg, share: 0.3}
"""
TABLES = {"accounts": ACCOUNTS, "payments": PAYMENTS}
HEADER = "op,id,account,receipt,amount,fee,currency,note,paid_at,booked_at,seen\n"

ROWS = 60
BAD_ROW, DOUBTFUL_ROW = "row that is quarantined", "row that is warned of"


@dataclass(frozen=True)
class Payment:
    """One row as its source has it."""

    id: int
    account: int
    receipt: str
    amount: int
    fee: str
    currency: str
    note: str
    paid_at: datetime
    booked_at: datetime

    def line(self, op: str, seen: str) -> str:
        """Return it as a line of a change file."""
        times = (f"{each:%Y-%m-%d %H:%M:%S}" for each in (self.paid_at, self.booked_at))
        values = (self.id, self.account, self.receipt, self.amount, self.fee)
        return ",".join(map(str, (op, *values, self.currency, self.note, *times, seen)))


def timestamp(number: int) -> str:
    """Return a timestamp by which changes are ordered."""
    return f"{datetime(2020, 1, 1) + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}"


class Source:
    """The payments of a source, which change at random."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._last, self._seen = 0, 0
        self.rows: Dict[int, Payment] = {}
        self._landed: Dict[int, Payment] = {}
        """Rows as change files had them last."""

    def new(self, **others: object) -> Payment:
        """Add a good payment, but for the values that are given."""
        self._last += 1
        paid = datetime.now(timezone.utc)
        paid -= timedelta(minutes=self._random.randint(0, 60))
        made = Payment(
            self._last,
            self._random.randint(1, 9),
            f"R{self._last}",
            self._random.randint(80, 120),
            f"{self._random.randint(0, 300) / 100:.2f}",
            self._random.choice(["EUR", "USD"]),
            self._random.choice(["rent", "food", "fuel"]),
            paid,
            paid + timedelta(minutes=5),
        )
        self.rows[made.id] = made = replace(made, **others)  # type: ignore[arg-type]
        return made

    def work(self) -> None:
        """Change the payments as a good day does."""
        while len(self.rows) < ROWS:
            self.new()
        for id in self._random.sample(sorted(self.rows), 3):
            del self.rows[id]
        for _ in range(3):
            self.new()
        for id in self._random.sample(sorted(self.rows), 5):
            amount = self._random.randint(80, 120)
            self.rows[id] = replace(self.rows[id], amount=amount)

    def some(self, count: int) -> List[Payment]:
        """Return some of the payments."""
        return [self.rows[id] for id in self._random.sample(sorted(self.rows), count)]

    def make_old(self) -> None:
        """Let the payments of the next file be days old."""
        age = timedelta(days=4)
        for id, row in list(self.rows.items()):
            if self._landed.get(id) != row:
                times = {"paid_at": row.paid_at - age, "booked_at": row.booked_at - age}
                self.rows[id] = replace(row, **times)

    def changes(self) -> str:
        """Return a change file with all that differs from the files before."""
        lines = []
        for id in sorted(self.rows.keys() | self._landed.keys()):
            before, now = self._landed.get(id), self.rows.get(id)
            if before != now:
                self._seen += 1
                op = "D" if now is None else "U" if before else "I"
                lines.append((now or before).line(op, timestamp(self._seen)))  # type: ignore
        self._landed = dict(self.rows)
        self._random.shuffle(lines)
        return HEADER + "".join(f"{each}\n" for each in lines)


def _too_many_rows_or_too_few(source: Source) -> None:
    if len(source.rows) % 2:
        for row in source.some(len(source.rows) // 2):
            del source.rows[row.id]
    else:
        for _ in range(45):
            source.new()


def _other_amounts(source: Source) -> None:
    for row in source.some(len(source.rows) // 2):
        source.rows[row.id] = replace(row, amount=300)


def _lost_notes(source: Source) -> None:
    for row in source.some(len(source.rows) // 4):
        source.rows[row.id] = replace(row, note="")


def _repeated_receipt(source: Source) -> None:
    (other,) = source.some(1)
    source.new(receipt=other.receipt)


def _booked_too_early(source: Source) -> None:
    paid = datetime.now(timezone.utc)
    source.new(paid_at=paid, booked_at=paid - timedelta(hours=2))


FAULTS: Dict[str, Callable[[Source], object]] = {
    "row_count": _too_many_rows_or_too_few,
    "drift": _other_amounts,
    "null_share": _lost_notes,
    "unique": _repeated_receipt,
    "references": lambda source: source.new(account=77),
    "expression": _booked_too_early,
    "accepted_range": lambda source: source.new(fee="-0.01"),
    BAD_ROW: lambda source: source.new(currency="XXX"),
    DOUBTFUL_ROW: lambda source: source.new(note="?"),
    "freshness": Source.make_old,
}
"""By the kind of a fault what plants it, in the order in which several are planted."""


def alarms(report: Report) -> Set[str]:
    """Return the kinds of faults that a run reports."""
    found = {each.kind for each in report.checks if each.result == "failed"}
    if report.quarantined:
        found.add(BAD_ROW)
    if any(each.startswith("FailedQualityRule: ") for each in report.warnings):
        found.add(DOUBTFUL_ROW)
    return found
