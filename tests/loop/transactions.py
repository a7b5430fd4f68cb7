"""Random transactions of two connections, side by side.

The connections work on keys of their own, odd and even numbers, and end their
transactions in any order. So they never wait for each other, and the order of the
log is not that of the commits.
"""

from __future__ import annotations

from random import Random
from typing import Any, Dict, List, Sequence, Set, Tuple

from tests.loop.kinds import KINDS, POSTGRESQL
from tests.loop.source import Session, Source
from tests.loop.tables import TABLES, Table

KEYS = 24
"""How many keys a table begins with at most: few, so that each has a long story."""

MOVE_LONG_VALUES = True
"""Whether a row gets another key while PostgreSQL leaves a long value of it unsent."""

Living = Dict[str, Set[int]]
"""The numbers of the rows that each table has."""


class Work:
    """All work on one source; the same seed does the same."""

    def __init__(self, source: Source, seed: str) -> None:
        self.source = source
        self.random = Random(seed)
        self.living: Living = {each.name: set() for each in TABLES}
        self.moves_long_values = MOVE_LONG_VALUES
        self.drops_columns = True
        self.workers = [Worker(self, source.session(), i) for i in range(2)]

    def settle(self) -> None:
        """End what is open."""
        for worker in self.random.sample(self.workers, 2):
            worker.end()

    def connect(self) -> None:
        """Make connections in place of those that were ended."""
        for worker in self.workers:
            worker.session = self.source.session()

    def close(self) -> None:
        """End the connections."""
        for worker in self.workers:
            worker.session.close()

    def place(self, table: Table) -> str:
        """The table's name in statements."""
        return f"{self.source.schema}.{table.name}"

    def values(self, table: Table, names: Sequence[str]) -> List[Any]:
        """Random values of columns, null now and then."""
        columns = self.source.shapes[table.name].now
        return [
            (
                None
                if self.random.random() < 0.12
                else self.source.value(self.random, columns[name])
            )
            for name in names
        ]

    def values_of(self, table: Table) -> List[str]:
        """The columns that are there now, without the key."""
        now = self.source.shapes[table.name].now
        return [name for name in now if name not in table.key]

    def long_of(self, table: Table) -> List[str]:
        """Those of them with values that an update need not send."""
        now = self.source.shapes[table.name].now
        return [name for name in now if KINDS[now[name]].is_long]

    def sent_with_key(self, table: Table) -> List[str]:
        """The columns that have to change with a key."""
        is_all_sent = self.source.database != POSTGRESQL or table.is_full
        return [] if is_all_sent or self.moves_long_values else self.long_of(table)


class Worker:
    """One of the connections, with its transaction."""

    def __init__(self, work: Work, session: Session, parity: int) -> None:
        self.work = work
        self.random = work.random
        self.session = session
        self.parity = parity
        self.left = 0
        self._before: Dict[Tuple[str, int], bool] = {}

    def step(self) -> None:
        """One statement more, or the end of the transaction after its last one."""
        if not self.left:
            self.left = self.random.randint(1, 6)
        if self.left > 1 and self.random.random() < 0.05:
            self._taken_back()
        else:
            self.statement()
        self.left -= 1
        if not self.left:
            self.end()

    def end(self) -> None:
        """Commit, or roll back at times."""
        commit = self.random.random() < 0.9
        self.session.end(commit=commit)
        if not commit:
            for (table, number), was_there in self._before.items():
                self._put(table, number, was_there)
        self._before = {}
        self.left = 0

    def truncate(self, table: Table) -> None:
        """All rows at once."""
        is_committed = self.session.truncate(self.work.source, table)
        self.none_left(table)
        if is_committed:
            self._before = {}

    def none_left(self, table: Table) -> None:
        """Note that no row is there."""
        for number in list(self.work.living[table.name]):
            self.set_living(table, number, False)

    def _taken_back(self) -> None:
        """Statements within a transaction that goes on without them."""
        living = {name: set(numbers) for name, numbers in self.work.living.items()}
        self.session.execute("SAVEPOINT detour")
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        self.session.execute("ROLLBACK TO SAVEPOINT detour")
        self.work.living = living

    def statement(self) -> None:
        """A change of one row."""
        table = self.random.choice(TABLES)
        here = sorted(n for n in self.work.living[table.name] if self._is_mine(n))
        number = self._number()
        if number in here or here and self.random.random() < 0.5:
            number = self.random.choice(here)
            how = self.random.choices(
                [self.update, self.delete, self.move, self.again], [12, 3, 3, 1]
            )
            how[0](table, number)
        else:
            self.insert(table, number)

    def _number(self) -> int:
        return self.random.randrange(KEYS // 2) * 2 + self.parity

    def _is_mine(self, number: int) -> bool:
        return number % 2 == self.parity

    def set_living(self, table: Table, number: int, is_there: bool) -> None:
        """Note that a row came or went, until a rollback says otherwise."""
        was_there = number in self.work.living[table.name]
        self._before.setdefault((table.name, number), was_there)
        self._put(table.name, number, is_there)

    def _put(self, table: str, number: int, is_there: bool) -> None:
        living = self.work.living[table]
        living.add(number) if is_there else living.discard(number)

    def insert(self, table: Table, number: int) -> None:
        """A new row; a column that is left out has its default."""
        values = [n for n in self.work.values_of(table) if self.random.random() < 0.93]
        names = [*table.key, *values]
        row = [*table.key_of(number), *self.work.values(table, values)]
        self.session.execute(
            f"INSERT INTO {self.work.place(table)} ({', '.join(names)})"
            f" VALUES ({', '.join(['%s'] * len(names))})",
            row,
        )
        self.set_living(table, number, True)

    def update(self, table: Table, number: int) -> None:
        """Other values in some columns; long ones stay most of the time."""
        names = self.work.values_of(table)
        if not names:
            return
        some = self.random.sample(names, self.random.randint(1, min(3, len(names))))
        if self.random.random() < 0.7:
            some = [name for name in some if name not in self.work.long_of(table)]
        if some:
            self._set(table, number, dict(zip(some, self.work.values(table, some))))

    def delete(self, table: Table, number: int) -> None:
        """A row less."""
        key = " AND ".join(f"{name} = %s" for name in table.key)
        self.session.execute(
            f"DELETE FROM {self.work.place(table)} WHERE {key}", table.key_of(number)
        )
        self.set_living(table, number, False)

    def again(self, table: Table, number: int) -> None:
        """The key goes and comes back within the transaction."""
        self.delete(table, number)
        self.insert(table, number)

    def move(self, table: Table, number: int) -> None:
        """The row gets another key."""
        other = self._number()
        if other in self.work.living[table.name]:
            return
        row = dict(zip(table.key, table.key_of(other)))
        names = self.work.sent_with_key(table)
        row.update(zip(names, self.work.values(table, names)))
        self._set(table, number, row)
        self.set_living(table, number, False)
        self.set_living(table, other, True)

    def _set(self, table: Table, number: int, row: Dict[str, Any]) -> None:
        changes = ", ".join(f"{name} = %s" for name in row)
        key = " AND ".join(f"{name} = %s" for name in table.key)
        self.session.execute(
            f"UPDATE {self.work.place(table)} SET {changes} WHERE {key}",
            [*row.values(), *table.key_of(number)],
        )
        self.set_living(table, number, True)
