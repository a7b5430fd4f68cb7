"""Random files with missing, extra, renamed and reordered columns, and what they hold.

The oracle is plain Python: it knows the contract's section 5 and nothing of the product.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Dict, List, Optional, Sequence, Tuple

SPEC = """
source:
  kind: feed
  path: tests/things
  format: {{type: {form}}}
  operation: {{column: op}}
  ignore_columns: [total]
  missing_columns: {missing}
columns:
  id: int
  ts: timestamp
  name: {{type: string, source: [full_name, name]}}
  price: "decimal(8,2)"
  size: bigint
  note: {{type: string, dropped: true}}
key: [id]
order_by: [ts]
storage: {{buckets: 1}}
"""
DECLARED = ("id", "ts", "name", "price", "size", "note")
NEEDED = ("name", "price", "size")
STORED = {"valid_from": "source_valid_from"}
"""What the table calls an undeclared column whose own name is not free."""
TYPES = {"id": "int", "ts": "timestamp", "price": "decimal(8,2)", "size": "int"}
Row = Dict[str, Any]


@dataclass
class File:
    """One file: its columns by lower-case source name, as it spells them, and its rows."""

    path: str
    spelled: Dict[str, str]
    rows: List[Row]
    omits: bool = False
    """Whether its JSON leaves out what is null."""

    def names(self, form: str) -> List[str]:
        """The source names that the file has, in its order."""
        if form == "json" and self.omits:
            return [n for n in self.spelled if any(r[n] is not None for r in self.rows)]
        return list(self.spelled)

    def upserts(self) -> int:
        return sum(row["op"] == "U" for row in self.rows)


def random_file(random: Random, path: str, times: List[datetime]) -> File:
    """A file with random columns; each row takes one of the times."""
    names = ["id", "ts", "op", *random.choice([["full_name"], ["name"]] * 3 + _NAMES)]
    names += [n for n in ("price", "size", "note") if random.random() < 0.8]
    names += [n for n in ("extra", "total", "valid_from") if random.random() < 0.3]
    random.shuffle(names)
    spell = [str.lower, str.upper, str.title, str.lower]
    rows = [_row(random, names, times.pop()) for _ in range(random.randint(1, 4))]
    spelled = {name: random.choice(spell)(name) for name in names}
    spelled["op"] = random.choice(["op", "OP"])
    return File(path, spelled, rows, omits=random.random() < 0.5)


_NAMES = [["full_name", "name"], [], ["title"]]


def _row(random: Random, names: Sequence[str], at: datetime) -> Row:
    op = "D" if random.random() < 0.25 else "U"
    row: Row = {"id": random.randint(1, 4), "ts": at, "op": op}
    for name in names:
        value: Any = random.choice(["a", "b,c", 'd "e"', "ä  f"])
        value = random.randint(0, 99) if name == "size" else value
        value = Decimal(random.randint(-9999, 9999)) / 100 if name == "price" else value
        row.setdefault(name, None if random.random() < 0.3 else value)
    return row


def times_of(random: Random, count: int) -> List[datetime]:
    """Times that differ, in a random order: files come late and rows are out of order."""
    start = datetime(2026, 1, 1)
    found = [start + timedelta(minutes=each) for each in range(count)]
    random.shuffle(found)
    return found


def text_of(file: File, form: str) -> str:
    """The file as CSV or JSON."""
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(file.spelled.values())
        writer.writerows([_text(row[n]) for n in file.spelled] for row in file.rows)
        return text.getvalue()
    return "".join(_line(file, row) for row in file.rows)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _line(file: File, row: Row) -> str:
    kept = [n for n in file.spelled if row[n] is not None or not file.omits]
    values = {file.spelled[n]: _in_json(row[n]) for n in kept}
    return json.dumps(values) + "\n"


def _in_json(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else str(value)


def schema_of(file: File) -> str:
    """The file's columns as DDL, for formats with types."""
    return ", ".join(f"`{s}` {TYPES.get(n, 'string')}" for n, s in file.spelled.items())


@dataclass
class Table:
    """What the change log and the current table must hold after the files so far."""

    form: str
    refuses: bool
    columns: List[str] = field(default_factory=lambda: list(DECLARED))
    log: Dict[Tuple[str, int], Row] = field(default_factory=dict)

    def ingest(self, files: Sequence[File]) -> Tuple[List[str], Dict[str, Tuple]]:
        """Ingest files; return paths that are refused, and columns: (paths, rows)."""
        refused = [f for f in files if self.refuses and f.upserts() and self._lacks(f)]
        taken = [file for file in files if file not in refused]
        for file in taken:
            new = [n for n in self._undeclared(file) if n not in self.columns]
            self.columns += new
        for file in taken:
            for number, row in enumerate(file.rows, 1):
                self.log[file.path, number] = self._stored(file, row)
        return [file.path for file in refused], self._missing(taken)

    def _missing(self, files: Sequence[File]) -> Dict[str, Tuple]:
        found: Dict[str, Tuple] = {}
        for name in self.columns:
            judged = name in NEEDED or name not in DECLARED and self.form != "json"
            lack = [f for f in files if f.upserts() and not self._has(f, name)]
            if judged and lack:
                rows = sum(file.upserts() for file in lack)
                found[name] = ([file.path for file in lack], rows)
        return found

    def _lacks(self, file: File) -> bool:
        return any(not self._has(file, name) for name in NEEDED)

    def _has(self, file: File, column: str) -> bool:
        return self._source(file, column) is not None

    def _source(self, file: File, column: str) -> Optional[str]:
        """The file's name for a column of the table: the newest that it has."""
        names = file.names(self.form)
        known = {"name": ("full_name", "name"), "source_valid_from": ("valid_from",)}
        return next((n for n in known.get(column, (column,)) if n in names), None)

    def _undeclared(self, file: File) -> List[str]:
        found = [n for n in file.spelled if n in ("title", "extra", "valid_from")]
        if self.form == "json":  # null has no type
            found = [n for n in found if any(row[n] is not None for row in file.rows)]
        return [STORED.get(name, name) for name in found]

    def _stored(self, file: File, row: Row) -> Row:
        sources = {name: self._source(file, name) for name in self.columns}
        values = {name: row[n] if n else None for name, n in sources.items()}
        not_sent = None if sources["note"] else "note"
        op = {"U": "upsert", "D": "delete"}[row["op"]]
        return {**values, "lake_op": op, "lake_unavailable": not_sent}

    def current(self) -> Dict[int, Row]:
        """The living rows by key: a value not sent is that of the row before."""
        living: Dict[int, Row] = {}
        for row in sorted(self.log.values(), key=lambda each: each["ts"]):
            values = {name: row.get(name) for name in self.columns}
            if row["lake_unavailable"]:
                values["note"] = living.get(row["id"], {}).get("note")
            if row["lake_op"] == "delete":
                living.pop(row["id"], None)
            else:
                living[row["id"]] = values
        return living
