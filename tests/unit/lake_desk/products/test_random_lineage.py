"""Lineage of products of random SQL against values that are changed in an engine.

SQLite runs each query (Python has it, and it knows windows, FILTER and WITH). One column
of a table is changed at a time: the columns of the result that differ must be those that
lineage leads to it, and each such column must differ once. Values that turn up unchanged
say which columns are copied, and that counts have nothing of them.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
from dataclasses import dataclass, field
from statistics import pstdev
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import pytest

from lake_desk.products.compiler import compile_product
from lake_desk.products.inputs import Tables
from lake_spec.model import (
    Column,
    ColumnUse,
    DomainSpec,
    Feed,
    FeedTable,
    Json,
    Layer,
    Product,
    ProductTable,
)
from tests.unit.lake_desk.products.random_sql import (
    FIXED,
    NUMBER,
    TEXT,
    TIME,
    Atom,
    Query,
    RandomSql,
)

FAST, NIGHTLY = 8, 1000
ROUNDS = 1000
"""Most tables of random rows that a query is run over, until each claim was seen."""
ROWS = 7
NEW = 1000
"""Numbers from here on, and texts of them, are those that a change brings."""

TYPES = {NUMBER: "bigint", TEXT: "string", TIME: "timestamp"}
COLUMNS = {
    "t0": {"id": NUMBER, "k": NUMBER, "n": NUMBER, "m": NUMBER, "s": TEXT, "at": TIME},
    "t1": {"id": NUMBER, "k": NUMBER, "p": NUMBER, "s": TEXT, "u": TEXT, "at": TIME},
    "t2": {"id": NUMBER, "n": NUMBER, "k": NUMBER, "w": TEXT, "at": TIME},
}


def tables() -> Tables:
    specs = tuple(
        FeedTable(
            name=name,
            domain="shop",
            description=name,
            owner="shop-data",
            source=Feed(path=f"shop/{name}", format=Json()),
            columns=tuple((c, Column(TYPES[kind])) for c, kind in columns.items()),
            key=("id",),
            order_by=("at",),
        )
        for name, columns in COLUMNS.items()
    )
    return Tables([DomainSpec("shop", "Shop", "shop-data", tables=specs)])


TABLES = tables()
TIMES = ("valid_from", "valid_to", "is_deleted")


def kinds_of(table: str, layer: str) -> Dict[str, str]:
    """The columns that queries read, by the kind of their values."""
    kinds = {kind: name for name, kind in TYPES.items()}
    columns = TABLES.columns(table, Layer(layer))
    return {n: kinds[c.text] for n, c in columns.items() if c.text in kinds}


READ = {
    (f"shop.{name}", layer): kinds_of(f"shop.{name}", layer)
    for name in COLUMNS
    for layer in ("current", "history")
}

Lineage = Dict[str, Dict[Atom, ColumnUse]]
Claim = Tuple[str, Atom]
"""A column of a product, and one of a table that it has values of."""


def random_query(seed: int) -> Tuple[RandomSql, Query]:
    sql = RandomSql(random.Random(seed), READ, TIMES)
    return sql, sql.product()


def lineage_of(query: Query) -> Lineage:
    """The lineage of a query by its compiled plan, by the numbers of its tables."""
    columns = tuple((e.text, Column(TYPES[e.kind])) for e in query.columns)
    spec = ProductTable(
        name="made",
        domain="shop",
        description="Made",
        owner="shop-data",
        source=Product(sql="made.sql"),
        columns=columns,
        key=(columns[0][0],),
    )
    compiled = compile_product(spec, query.text, TABLES)
    assert not compiled.findings, compiled.findings
    numbers = re.findall(r"/\* (\d+) \*/", query.text)
    uses = {f"input_{n}": int(number) for n, number in enumerate(numbers)}
    assert compiled.plan.columns is not None
    found: Lineage = {each.text: {} for each in query.columns}
    for each in compiled.plan.columns:
        found[each.column][uses[each.view], each.source] = each.how
    return found


# --- the engine


class StdDev:
    def __init__(self) -> None:
        self.values: List[float] = []

    def step(self, value: Any) -> None:
        self.values += [] if value is None else [value]

    def finalize(self) -> Any:
        return pstdev(self.values) if self.values else None


class CountIf(StdDev):
    def finalize(self) -> int:
        return sum(map(bool, self.values))


class MaxBy:
    def __init__(self) -> None:
        self.best: Any = None

    def step(self, value: Any, by: Any) -> None:
        if by is not None and (self.best is None or by > self.best[1]):
            self.best = value, by

    def finalize(self) -> Any:
        return self.best[0] if self.best else None


def concat(*parts: Any) -> Any:
    return None if None in parts else "".join(map(str, parts))


def greatest(*values: Any) -> Any:
    return max((each for each in values if each is not None), default=None)


class Engine:
    """The tables of one query in SQLite, and the rows of its result."""

    def __init__(self, seeded: random.Random, sql: RandomSql, query: Query) -> None:
        self.seeded, self.engine = seeded, query.engine
        self.names = [each.value for each in query.columns]
        words = set(re.findall(r"\w+", query.text))
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.create_function("concat", -1, concat)
        self.connection.create_function("greatest", -1, greatest)
        self.connection.create_aggregate("stddev_pop", 1, StdDev)
        self.connection.create_aggregate("count_if", 1, CountIf)
        self.connection.create_aggregate("max_by", 2, MaxBy)
        # An index made for a query would sort its rows by values.
        self.connection.execute("PRAGMA automatic_index = OFF")
        self.tables: Dict[int, Dict[str, str]] = {}
        self.rows: Dict[int, List[List[Any]]] = {}
        self.atoms: List[Atom] = []
        for number, place in enumerate(sql.uses):
            kinds = self.tables[number] = READ[place]
            self.atoms += [(number, name) for name in kinds if name in words]
            names = [
                *kinds,
                *(f"{name}{FIXED}" for name in kinds),
                f"is_deleted{FIXED}",
            ]
            self.connection.execute(f"CREATE TABLE v{number} ({', '.join(names)})")

    def fill(self) -> None:
        """Put other random rows into all tables; what decides is apart from values."""
        for number, kinds in self.tables.items():
            self.connection.execute(f"DELETE FROM v{number}")
            rows = self.rows[number] = [
                [*map(self._value, kinds.values()), *self._deciding(kinds)]
                for _ in range(ROWS)
            ]
            marks = ", ".join("?" * len(rows[0]))
            self.connection.executemany(f"INSERT INTO v{number} VALUES ({marks})", rows)

    def _deciding(self, kinds: Dict[str, str]) -> List[Any]:
        """A row as it decides, and whether it is deleted."""
        row = dict(zip(kinds, map(self._value, kinds.values())))
        if "valid_from" in kinds:
            begin = self.seeded.randint(0, 6)
            end = self.seeded.choice((None, begin + 3, begin + 6))
            row.update(valid_from=begin, valid_to=end)
        return [*row.values(), self.seeded.random() < 0.1]

    def _value(self, kind: str) -> Any:
        if self.seeded.random() < 0.2:
            return None
        number = self.seeded.randint(0, 9)
        return "abcdefghij"[number] if kind == TEXT else number

    def change(self, atom: Atom) -> Set[str]:
        """Give a column values that others have, none, and new ones; return these."""
        number, name = atom
        kind = self.tables[number][name]
        is_new = [self.seeded.random() < 0.5 for _ in range(ROWS)]
        values = [self._new(kind) if new else self._value(kind) for new in is_new]
        self._set(atom, values)
        return {str(value) for value, new in zip(values, is_new) if new}

    def restore(self, atom: Atom) -> None:
        number, name = atom
        place = list(self.tables[number]).index(name)
        self._set(atom, [row[place] for row in self.rows[number]])

    def _set(self, atom: Atom, values: List[Any]) -> None:
        number, name = atom
        statement = f"UPDATE v{number} SET {name} = ? WHERE rowid = ?"
        pairs = [(value, row + 1) for row, value in enumerate(values)]
        self.connection.executemany(statement, pairs)

    def _new(self, kind: str) -> Any:
        number = NEW + self.seeded.randint(0, 10**6)
        return f"z{number}" if kind == TEXT else number

    def play(self, seen: Set[Claim], shown: Set[Claim]) -> bool:
        """Change each column once; note which of the result differ, and show new values.

        Returns whether the result has rows to compare.
        """
        self.fill()
        before = self.columns()
        for atom in self.atoms:
            new = self.change(atom)
            after = self.columns()
            self.restore(atom)
            for column in self.names:
                assert len(before[column]) == len(after[column]), atom
                if before[column] != after[column]:
                    seen.add((column, atom))
                if new & set(map(str, after[column])):
                    shown.add((column, atom))
        return len(before[self.names[0]]) > 1

    def columns(self) -> Dict[str, List[Any]]:
        """The result, by the product's columns."""
        rows = self.connection.execute(self.engine)
        names = [each[0] for each in rows.description]
        found = list(zip(*rows)) or [()] * len(names)
        return {n: list(v) for n, v in zip(names, found) if n in self.names}


# --- the comparison


@dataclass
class Faults:
    """What is wrong with the lineage of a query."""

    wrong: List[str] = field(default_factory=list)
    unseen: List[str] = field(default_factory=list)
    """Columns that lineage leads to, and that made no difference in any round."""


def faults_of(
    seed: int, lineage: Optional[Lineage] = None, *, least: int = 5, most: int = ROUNDS
) -> Faults:
    """Compare the lineage of one random query with what changes in so many rounds."""
    sql, query = random_query(seed)
    lineage = lineage_of(query) if lineage is None else lineage
    claims = {(column, atom) for column, of in lineage.items() for atom in of}
    copies = {each for each in claims if use_of(lineage, each) is ColumnUse.COPIED}
    engine = Engine(random.Random(seed), sql, query)
    seen: Set[Claim] = set()
    shown: Set[Claim] = set()
    full = 0
    for done in range(most):
        is_settled = claims <= seen and copies <= shown
        if not seen <= claims or done >= least and is_settled:
            break
        full += engine.play(seen, shown)
    found = Faults()
    for column, atom in sorted(seen - claims):
        found.wrong.append(
            f"{column} has values of {atom}, and lineage does not say so"
        )
    for column, atom in sorted(shown & claims):
        if use_of(lineage, (column, atom)) is ColumnUse.DERIVED:
            found.wrong.append(f"{column} shows values of {atom}, and is only derived")
    if full > most // 2:
        for column, atom in sorted((claims - seen) | (copies - shown)):
            found.unseen.append(f"{column} never has values of {atom}")
    return found


def use_of(lineage: Lineage, claim: Claim) -> ColumnUse:
    column, atom = claim
    return lineage[column][atom]


def check(seeds: Sequence[int], *, least: int, most_unseen: int = 0) -> None:
    """Compare the queries of many seeds; some may have a part that matters too seldom."""
    unseen = []
    for seed in seeds:
        found = faults_of(seed, least=least)
        text = "\n  ".join([f"seed {seed}:", *found.wrong, *found.unseen])
        text += f"\n{random_query(seed)[1].text}"
        assert not found.wrong, text
        unseen += [text] if found.unseen else []
    print(*unseen, sep="\n")
    assert len(unseen) <= most_unseen, "\n".join(unseen)


def test_columns_of_random_sql_come_from_those_that_change_them():
    check(range(FAST), least=2)


SEED = 1
"""A query that has rows with most tables."""


def test_an_origin_that_is_left_out_is_noticed():
    lineage = lineage_of(random_query(SEED)[1])
    column = next(name for name, of in lineage.items() if of)
    lineage[column].popitem()
    assert faults_of(SEED, lineage).wrong


def test_an_origin_that_makes_no_difference_is_noticed():
    lineage = lineage_of(random_query(SEED)[1])
    column, unread = next(iter(lineage)), (0, "none")
    lineage[column][unread] = ColumnUse.COMPUTED
    found = faults_of(SEED, lineage, most=20)
    assert found.unseen == [f"{column} never has values of {unread}"]


def test_a_value_of_what_is_only_counted_is_noticed():
    lineage = lineage_of(random_query(SEED)[1])
    lineage = {c: dict.fromkeys(of, ColumnUse.DERIVED) for c, of in lineage.items()}
    assert any("only derived" in each for each in faults_of(SEED, lineage).wrong)


@pytest.mark.nightly
def test_columns_of_many_random_queries_come_from_those_that_change_them():
    first = int(
        os.environ.get("LINEAGE_SEED") or random.SystemRandom().randrange(10**9)
    )
    print(f"seeds from {first} on; LINEAGE_SEED={first} repeats them")
    check(range(first, first + NIGHTLY), least=30, most_unseen=NIGHTLY // 50)
