"""Random work: transactions side by side and, now and then, what needs a table alone."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Callable, Iterator, List

from tests.loop.kinds import MARIADB
from tests.loop.tables import TABLES, Table
from tests.loop.transactions import KEYS, Work, Worker

MOST_ADDED = 2
"""So many columns are added to a table at most, and half of them dropped."""

PAUSE = 0.1
"""Seconds between steps of work next to something else."""

ALONE = 0.05
"""How many of the steps need a table alone."""


def play(work: Work, steps: int) -> None:
    """Do so many steps; transactions may stay open."""
    for _ in range(steps):
        if work.random.random() < ALONE:
            work.settle()
            _alone(work, work.random.choice(TABLES))
            work.settle()
        else:
            work.random.choice(work.workers).step()


@contextmanager
def beside(work: Work, steps: int, *, settle: bool = False) -> Iterator[None]:
    """So many steps, with pauses; the block ends when they are done too."""

    def slowly() -> None:
        for _ in range(steps):
            play(work, 1)
            time.sleep(PAUSE)
        if settle:
            work.settle()

    with ThreadPoolExecutor(1) as pool:
        playing = pool.submit(slowly)
        yield
        playing.result()


def _alone(work: Work, table: Table) -> None:
    ways: List[Callable[[Work, Worker, Table], None]] = [
        *(_truncate, _insert_many, _update_all, _delete_all),
        *(_move_all, _add_column, _drop_column),
    ]
    weights = [2, 4, 4, 1, 2, 2, 1]
    (way,) = work.random.choices(ways, weights)
    way(work, work.workers[0], table)


def _truncate(work: Work, worker: Worker, table: Table) -> None:
    """Among other statements of its transaction, where the database can."""
    _insert_many(work, worker, table)
    worker.truncate(table)
    _insert_many(work, worker, table)


def _delete_all(work: Work, worker: Worker, table: Table) -> None:
    worker.session.execute(f"DELETE FROM {work.place(table)}")
    worker.none_left(table)


def _insert_many(work: Work, worker: Worker, table: Table) -> None:
    """Rows by one statement."""
    free = sorted(set(range(KEYS)) - work.living[table.name])
    some = work.random.sample(free, min(len(free), 6))
    values = work.values_of(table)
    names = [*table.key, *values]
    rows = [[*table.key_of(n), *work.values(table, values)] for n in some]
    if not rows:
        return
    row = f"({', '.join(['%s'] * len(names))})"
    worker.session.execute(
        f"INSERT INTO {work.place(table)} ({', '.join(names)})"
        f" VALUES {', '.join([row] * len(rows))}",
        [value for each in rows for value in each],
    )
    for number in some:
        worker.set_living(table, number, True)


def _update_all(work: Work, worker: Worker, table: Table) -> None:
    """One column of all rows."""
    names = work.values_of(table)
    if names:
        name = work.random.choice(names)
        values = work.values(table, [name])
        worker.session.execute(f"UPDATE {work.place(table)} SET {name} = %s", values)


def _move_all(work: Work, worker: Worker, table: Table) -> None:
    """All keys grow: in MariaDB each row takes the key that another has just left."""
    if len(table.key) > 1 or table.key_of(1) != (1,) or work.sent_with_key(table):
        return
    (key,), place = table.key, work.place(table)
    is_mariadb = work.source.database == MARIADB
    by = 1 if is_mariadb else 2 * KEYS
    order = f" ORDER BY {key} DESC" if is_mariadb else ""
    worker.session.execute(f"UPDATE {place} SET {key} = {key} + {by}{order}")
    before = sorted(work.living[table.name])
    worker.none_left(table)
    for number in before:
        worker.set_living(table, number + by, True)


def _add_column(work: Work, worker: Worker, table: Table) -> None:
    shape = work.source.shapes[table.name]
    if shape.added < MOST_ADDED:
        kinds = ["text", "bigint", "flag", "long"]
        work.source.add_column(table, work.random.choice(kinds))


def _drop_column(work: Work, worker: Worker, table: Table) -> None:
    shape = work.source.shapes[table.name]
    names = work.values_of(table)
    dropped = len(shape.ever) - len(shape.now)
    if work.drops_columns and names and dropped < MOST_ADDED // 2:
        work.source.drop_column(table, work.random.choice(names))
