"""Random SELECTs of products, each also as SQL for an engine that tells two uses apart.

A product's lineage follows values, and not what only decides which rows there are. So a
table of the engine has each column twice: `n` for its values, and `n__d`, which stays as
it is, for what decides: conditions, keys of joins and groups, and the order of windows.
Where `n` is changed, the same rows are there, and a column that differs has values of it.

Every expression reads a column at most once, so that nothing cancels out.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from typing import Callable, Dict, FrozenSet, Iterable, List, Optional, Sequence, Tuple

NUMBER, TEXT, TIME = "number", "text", "time"
KINDS = (NUMBER, TEXT, TIME)
FIXED = "__d"

Atom = Tuple[int, str]
"""A use of a table, by its number, and a column of it."""


@dataclass(frozen=True)
class Expr:
    """An expression: in the product, and for the engine by values and as it was."""

    text: str
    value: str
    fixed: str
    kind: str
    atoms: FrozenSet[Atom] = frozenset()
    nullable: bool = True
    is_plain: bool = False
    """True for a column of a table as it is: its values are few."""


def made(
    template: str,
    kind: str,
    *of: Expr,
    by: Sequence[Expr] = (),
    nullable: Optional[bool] = None,
) -> Expr:
    """Make an expression of the values of others; those of `by` only decide."""
    some = any(each.nullable for each in of) if nullable is None else nullable
    return Expr(
        template.format(*(e.text for e in (*of, *by))),
        template.format(*(e.value for e in of), *(e.fixed for e in by)),
        template.format(*(e.fixed for e in (*of, *by))),
        kind,
        frozenset().union(*(each.atoms for each in of)),
        some,
    )


def literal(text: str, kind: str) -> Expr:
    return Expr(text, text, text, kind, nullable=False)


@dataclass(frozen=True)
class Query:
    """A SELECT, and its columns as a query around it reads them, without an alias."""

    text: str
    engine: str
    columns: Tuple[Expr, ...]

    def named(self, alias: str) -> List[Expr]:
        return [
            replace(
                each,
                text=f"{alias}.{each.text}",
                value=f"{alias}.{each.value}",
                fixed=f"{alias}.{each.fixed}",
            )
            for each in self.columns
        ]


@dataclass(frozen=True)
class Source:
    """What FROM or JOIN reads: a table, a query with a name, or a query in FROM."""

    text: str
    engine: str
    query: Query
    as_of: str = ""
    """The reference with {} for a column, if it can be joined by time."""


@dataclass
class RandomSql:
    """Writes random queries over tables; `tables` are their columns by kind."""

    seeded: random.Random
    tables: Dict[Tuple[str, str], Dict[str, str]]
    times: Tuple[str, str, str]
    """Columns of a history: its begin, its end, and whether it is deleted."""
    uses: List[Tuple[str, str]] = field(default_factory=list)
    names: int = 0

    # --- queries

    def product(self) -> Query:
        """Return a whole product: maybe WITH, then a query."""
        return self._with(3)

    def _with(self, depth: int, known: Sequence[Source] = ()) -> Query:
        """Return a query, maybe with named ones before it, whose names may hide others."""
        count = self.seeded.choice((0, 0, 1, 2)) if depth > 1 else 0
        names = [f"q{number}" for number in range(count)]
        chosen = {each.text: each for each in known if each.text not in names}
        texts, engines = [], []
        for name in names:
            query, heading = self._query(depth - 1, [*chosen.values()]), name
            if self._chance(0.3):
                query, heading = self._renamed(query, name)
            texts.append(f"{heading} AS ({query.text})")
            engines.append(f"{name} AS ({query.engine})")
            chosen[name] = Source(name, name, query)
        query = self._query(depth - 1, [*chosen.values()])
        if not count:
            return query
        return replace(
            query,
            text=f"WITH {', '.join(texts)} {query.text}",
            engine=f"WITH {', '.join(engines)} {query.engine}",
        )

    def _renamed(self, query: Query, name: str) -> Tuple[Query, str]:
        """Give the columns of a named query other names, as in `q0(x5, x6) AS`."""
        names = [self._name() for _ in query.columns]
        heading = f"{name}({', '.join(names)})"
        columns = tuple(
            replace(each, text=new, value=new, fixed=new + FIXED)
            for each, new in zip(query.columns, names)
        )
        shown = ", ".join(
            f"{old.value} AS {new.value}, {old.fixed} AS {new.fixed}"
            for old, new in zip(query.columns, columns)
        )
        engine = f"SELECT {shown} FROM ({query.engine})"
        return Query(query.text, engine, columns), heading

    def _query(
        self, depth: int, known: Sequence[Source], kinds: Sequence[str] = ()
    ) -> Query:
        how = self.seeded.random()
        if not kinds and how < 0.05:
            return self._difference()
        kinds = kinds or self.seeded.choices(KINDS, (5, 4, 1), k=self._count(2, 4))
        if depth > 0 and how < 0.15:
            return self._union(depth, known, kinds)
        if how < 0.45:
            return self._groups(depth, known, kinds)
        if how < 0.5:
            return self._distinct(depth, known, kinds)
        return self._rows(depth, known, kinds, keep=how > 0.92)

    def _union(self, depth: int, known, kinds) -> Query:
        one, other = (self._query(depth - 1, known, kinds) for _ in range(2))
        columns = tuple(
            replace(
                mine,
                atoms=mine.atoms | theirs.atoms,
                nullable=mine.nullable and theirs.nullable,
                is_plain=mine.is_plain and theirs.is_plain,
            )
            for mine, theirs in zip(one.columns, other.columns)
        )
        word = self.seeded.choice(("UNION ALL", "UNION ALL", "UNION"))
        text = f"{self._side(one)} {word} {self._side(other)}"
        engine = (
            f"SELECT * FROM ({one.engine}) UNION ALL SELECT * FROM ({other.engine})"
        )
        query = Query(text, engine, columns)
        return self._without_repeats(query) if word == "UNION" else query

    def _side(self, query: Query) -> str:
        """Return a side of UNION, in brackets where it is one itself."""
        is_one = any(word in query.text for word in ("UNION", "EXCEPT", "INTERSECT"))
        return f"({query.text})" if is_one or self._chance(0.2) else query.text

    def _difference(self) -> Query:
        """Return a column without, or with only, the values that another one has."""
        word, sign = self.seeded.choice((("EXCEPT", "NOT "), ("INTERSECT", "")))
        one, other = self._plain_query(), self._plain_query()
        mine, theirs = one.columns[0], other.columns[0]
        engine = (
            f"SELECT * FROM ({one.engine}) AS l WHERE {sign}EXISTS (SELECT 1 FROM "
            f"({other.engine}) AS r WHERE r.{theirs.fixed} IS l.{mine.fixed})"
        )
        query = Query(f"{one.text} {word} {other.text}", engine, one.columns)
        return self._without_repeats(query)

    def _plain_query(self) -> Query:
        """Return one column of a table as it is."""
        source, alias = self._table(), self._alias(())
        columns = [e for e in source.query.named(alias) if e.kind == NUMBER]
        texts = (f"{source.text} AS {alias}", f"{source.engine} AS {alias}")
        return self._select([self.seeded.choice(columns)], texts)

    def _without_repeats(self, query: Query) -> Query:
        """Give the engine rows once: of equal ones, their values are of any of them."""
        shown = ", ".join(
            f"max({e.value}) AS {e.value}, max({e.fixed}) AS {e.fixed}"
            for e in query.columns
        )
        groups = ", ".join(each.fixed for each in query.columns)
        engine = f"SELECT {shown} FROM ({query.engine}) GROUP BY {groups}"
        return replace(query, engine=engine)

    def _distinct(self, depth: int, known, kinds) -> Query:
        query = self._rows(depth, known, kinds)
        text = query.text.replace("SELECT", "SELECT DISTINCT", 1)
        return self._without_repeats(replace(query, text=text))

    def _rows(self, depth: int, known, kinds, keep: bool = False) -> Query:
        """Return a SELECT without groups, maybe with windows or a QUALIFY."""
        columns, texts = self._from(depth, known)
        values = []
        for kind in kinds:
            pool = Pool(self, columns)
            if self._chance(0.25) and columns:
                values.append(self._window(pool, kind))
            else:
                values.append(pool.value(kind, self._count(0, 2)))
        where = self._where(columns)
        if not keep:
            return self._select(values, texts, where=where)
        by = self._plain(columns)
        order = made("row_number() OVER (PARTITION BY {0} ORDER BY {1})", NUMBER, by=by)
        query = self._select(values, texts, where=where, also=order.fixed)
        text = f"{query.text} QUALIFY {order.text} = 1"
        shown = ", ".join(f"{e.value}, {e.fixed}" for e in query.columns)
        return replace(
            query,
            text=text,
            engine=f"SELECT {shown} FROM ({query.engine}) WHERE keep = 1",
        )

    def _groups(self, depth: int, known, kinds) -> Query:
        """Return a SELECT with GROUP BY; a group's column is one value of its rows."""
        columns, texts = self._from(depth, known)
        keys = self.seeded.sample(columns, min(len(columns), self._count(1, 2)))
        if self._chance(0.2):
            keys[0] = made("coalesce({0}, {0})", keys[0].kind, keys[0])
        shown = [
            replace(e, value=f"max({e.value})", fixed=f"max({e.fixed})") for e in keys
        ]
        pool = Pool(self, columns)
        values = []
        for kind in kinds:
            pool.used = set()
            same = [each for each in shown if each.kind == kind]
            if same and self._chance(0.4):
                values.append(self.seeded.choice(same))
            else:
                values.append(self._of_groups(pool, kind, shown))
        where = self._where(columns)
        groups = made(", ".join(f"{{{n}}}" for n in range(len(keys))), TEXT, by=keys)
        places = {each.text: str(n + 1) for n, each in reversed([*enumerate(values)])}
        if self._chance(0.5):
            numbers = (places.get(each.text, each.text) for each in keys)
            groups = replace(groups, text=", ".join(numbers))
        if self._chance(0.2):
            having = made("HAVING max({0}) IS NOT NULL", TEXT, by=self._plain(columns))
            groups = made("{0} {1}", TEXT, by=(groups, having))
        return self._select(values, texts, where=where, groups=groups)

    def _of_groups(self, pool: Pool, kind: str, keys: Sequence[Expr]) -> Expr:
        """Return an aggregate, or an expression of several."""
        one = self._aggregate(pool, kind)
        if self._chance(0.6):
            return one
        if kind == NUMBER:
            return made("{0} + {1}", NUMBER, one, self._aggregate(pool, NUMBER))
        if kind == TEXT:
            return made("concat({0}, {1})", TEXT, one, self._aggregate(pool, TEXT))
        return one

    def _aggregate(self, pool: Pool, kind: str) -> Expr:
        by = self._plain(pool.columns)
        rows = ""
        if self._chance(0.2) and by[0].kind == NUMBER and by[0].is_plain:
            rows = f" FILTER (WHERE {{1}} < {self._count(3, 8)})"
        how = self.seeded.choice(
            ("sum", "avg", "stddev_pop", "count", "distinct", "count_if", "max_by")
            if kind == NUMBER and self._chance(0.7)
            else ("min", "max")
        )
        is_so = pool.condition() if how == "count_if" else None
        if is_so is not None:
            return made("count_if({0})" + rows, kind, is_so, by=by, nullable=False)
        if how == "count":
            plain = pool.take(NUMBER, TEXT, only=lambda e: e.is_plain and e.nullable)
            return made("count({0})" + rows, kind, plain, by=by, nullable=False)
        if how == "distinct":
            of = pool.value(self.seeded.choice((NUMBER, TEXT)), 1)
            template = "count(DISTINCT {0})" + rows
            return made(template, kind, of, by=by, nullable=False)
        of = pool.value(kind, 1)
        if how == "max_by" and of.atoms:
            template = "max_by({0}, {1})" + rows.replace("{1}", "{2}")
            return made(template, kind, of, pool.value(NUMBER, 0), by=by)
        name = "max" if how in ("count_if", "max_by") else how
        return made(f"{name}({{0}})" + rows, kind, of, by=by)

    def _window(self, pool: Pool, kind: str) -> Expr:
        """Return a window; neighbours are of large parts, as small ones have none."""
        of, by = pool.value(kind, 1), self._plain(pool.columns)
        functions = ["lag({0})", "lead({0}, 1)", "first_value({0})", "max({0})"]
        functions += ["sum({0})", "avg({0})"] if kind == NUMBER else []
        function = self.seeded.choice(functions)
        part = "{1} < 5" if function.startswith("l") else "{1}"
        over = f"PARTITION BY {part} ORDER BY {{2}}"
        if function == "max({0})":
            frame = " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
            over = self.seeded.choice((f"PARTITION BY {part}", over, over + frame))
        return made(f"{function} OVER ({over})", kind, of, by=by, nullable=True)

    def _select(
        self,
        values: Iterable[Expr],
        texts: Sequence[str],
        where: Optional[Expr] = None,
        groups: Optional[Expr] = None,
        also: str = "",
    ) -> Query:
        """Write a SELECT; its columns have new names."""
        names = [(self._name(), each) for each in values]
        if groups is None and self._chance(0.15):
            names[-1:] = [self._of_alias(*names[0], *names[-1])]
        text = ", ".join(f"{e.text} AS {name}" for name, e in names)
        shown = ", ".join(
            f"{e.value} AS {name}, {e.fixed} AS {name}{FIXED}" for name, e in names
        )
        shown += f", {also} AS keep" if also else ""
        text, run = f"SELECT {text} FROM {texts[0]}", f"SELECT {shown} FROM {texts[1]}"
        if where is not None:
            text, run = f"{text} WHERE {where.text}", f"{run} WHERE {where.fixed}"
        if len(texts) > 2:  # a condition that the product has in FROM
            run += f" {'AND' if where else 'WHERE'} {texts[2]}"
        if groups is not None:
            text, run = (
                f"{text} GROUP BY {groups.text}",
                f"{run} GROUP BY {groups.fixed}",
            )
        columns = tuple(
            replace(each, text=name, value=name, fixed=name + FIXED)
            for name, each in names
        )
        return Query(text, run, columns)

    @staticmethod
    def _of_alias(first: str, one: Expr, last: str, other: Expr) -> Tuple[str, Expr]:
        """Make the last column of the first one, by its name, where that can be."""
        if first == last or not one.kind == other.kind == NUMBER or "OVER" in one.text:
            return last, other
        of = replace(one, text=first, is_plain=False)
        return last, made("({0} + 1)", NUMBER, of)

    # --- what is read

    def _from(self, depth: int, known) -> Tuple[List[Expr], Tuple[str, ...]]:
        """Return the columns of some sources, and the texts after FROM."""
        source = self._source(depth, known)
        alias = self._alias(())
        aliases, columns = [alias], source.query.named(alias)
        text, engine = f"{source.text} AS {alias}", f"{source.engine} AS {alias}"
        count = self.seeded.choice((0, 0, 1, 1, 2))
        if not count and self._chance(0.3):
            return list(source.query.columns), (text, engine)
        for _ in range(count):
            source = self._source(depth, known)
            alias = self._alias(aliases)
            own = source.query.named(alias)
            joined = self._joined(source, own, columns)
            if joined is None:
                continue
            word, on, reference = joined
            read = f"{source.engine} AS {alias}"
            text += f" {word} {reference} AS {alias} ON {on.text}"
            if "SEMI" in word or "ANTI" in word:
                sign = "NOT " if "ANTI" in word else ""
                rows = f"{sign}EXISTS (SELECT 1 FROM {read} WHERE {on.fixed})"
                return columns, (text, engine, rows)
            aliases.append(alias)
            columns = columns + own
            engine += f" {word} {read} ON {on.fixed}"
        return columns, (text, engine)

    def _joined(self, source: Source, own, before) -> Optional[Tuple[str, Expr, str]]:
        """Return the word of a join, its condition and its reference."""
        mine, theirs = (
            [e for e in of if e.kind == NUMBER and e.is_plain] for of in (own, before)
        )
        if not mine or not theirs:
            return None
        one, other = self.seeded.choice(mine), self.seeded.choice(theirs)
        on = made("{0} = {1}", NUMBER, by=(one, other))
        times = [each for each in before if each.kind == TIME]
        if source.as_of and times and self._chance(0.7):
            at = self.seeded.choice(times)
            begin, end, deleted = (
                one.fixed.split(".")[0] + f".{each}{FIXED}" for each in self.times
            )
            valid = f"{begin} <= {at.fixed} AND ({end} IS NULL OR {at.fixed} < {end})"
            on = replace(on, fixed=f"{on.fixed} AND {valid} AND NOT {deleted}")
            word = self.seeded.choice(
                ("JOIN", "LEFT JOIN", "LEFT JOIN", "LEFT SEMI JOIN")
            )
            return word, on, source.as_of.replace("AT", at.text)
        words = ("JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
        return self.seeded.choice((*words, "LEFT ANTI JOIN")), on, source.text

    def _source(self, depth: int, known: Sequence[Source]) -> Source:
        if known and self._chance(0.5):
            return self.seeded.choice(known)
        if depth > 1 and self._chance(0.25):
            query = self._with(depth - 1, known)
            return Source(f"({query.text})", f"({query.engine})", query)
        source = self._table()
        if self._chance(0.1):
            text, engine = (
                f"(SELECT z.* FROM {each} AS z)"
                for each in (source.text, source.engine)
            )
            source = Source(text, engine, source.query)
        return source

    def _table(self) -> Source:
        """Read a table by a use of its own, which the text numbers in a comment."""
        table, layer = self.seeded.choice(list(self.tables))
        number = len(self.uses)
        self.uses.append((table, layer))
        columns = tuple(
            Expr(
                name, name, name + FIXED, kind, frozenset({(number, name)}), True, True
            )
            for name, kind in self.tables[table, layer].items()
        )
        reference = f"{layer}('{table}')"
        text = f"{{{{ {reference} }}}} /* {number} */"
        as_of = f"{{{{ as_of({reference}, AT) }}}} /* {number} */"
        query = Query(text, f"v{number}", columns)
        return Source(text, f"v{number}", query, as_of if layer == "history" else "")

    def _where(self, columns: Sequence[Expr]) -> Optional[Expr]:
        if not self._chance(0.3):
            return None
        by = self._plain(columns)
        if self._chance(0.2):
            other = self._plain_query()
            text = f"({other.text})"
            column = other.columns[0]
            fixed = f"(SELECT {column.fixed} FROM ({other.engine}))"
            numbers = [each for each in by if each.kind == NUMBER]
            if numbers:
                inner = Expr(text, fixed, fixed, NUMBER)
                return made("{0} IN {1}", NUMBER, by=(numbers[0], inner))
        if by[0].kind == NUMBER and by[0].is_plain:
            return made(f"{{0}} < {self._count(5, 9)}", NUMBER, by=by)
        return made("{0} IS NOT NULL", NUMBER, by=by)

    # --- choices

    def _plain(self, columns: Sequence[Expr]) -> List[Expr]:
        """Return two columns that may decide: of tables, if there are some."""
        plain = [each for each in columns if each.is_plain] or list(columns)
        return [self.seeded.choice(plain), self.seeded.choice(plain)]

    def _name(self) -> str:
        self.names += 1
        return f"x{self.names}"

    def _alias(self, taken: Sequence[str]) -> str:
        """Return a name for a source; it may hide a named query, or one outside."""
        return self.seeded.choice([n for n in ("a", "b", "c", "q0") if n not in taken])

    def _chance(self, share: float) -> bool:
        return self.seeded.random() < share

    def _count(self, least: int, most: int) -> int:
        return self.seeded.randint(least, most)


class Pool:
    """Columns for one expression, each read at most once."""

    def __init__(self, sql: RandomSql, columns: Sequence[Expr]) -> None:
        self.sql, self.seeded = sql, sql.seeded
        self.columns = list(columns)
        self.used: set = set()

    def take(
        self, *kinds: str, only: Callable[[Expr], bool] = lambda each: True
    ) -> Expr:
        """Return a column that was not read yet; a literal if there is none."""
        free = [
            each
            for each in self.columns
            if each.kind in kinds and only(each) and not each.atoms & self.used
        ]
        if not free:
            return self._literal(kinds[0])
        chosen = self.seeded.choice(free)
        self.used |= chosen.atoms
        return chosen

    def _literal(self, kind: str) -> Expr:
        if kind == NUMBER:
            return literal(str(self.seeded.randint(1, 5)), NUMBER)
        if kind == TEXT:
            return literal(f"'{self.seeded.choice('abcde')}'", TEXT)
        return literal("CAST('2026-01-01' AS timestamp)", TIME)

    def value(self, kind: str, depth: int) -> Expr:
        """Return an expression of a kind, of so many levels at most."""
        if depth == 0 or self.seeded.random() < 0.3:
            return self.take(kind)
        ways = [self._choice, self._present, self._query, *self._of_kind[kind]]
        return self.seeded.choice(ways)(kind, depth - 1)

    def _choice(self, kind: str, depth: int) -> Expr:
        is_so, one = self.condition(), self.value(kind, depth)
        if is_so is None:
            return one
        if self.seeded.random() < 0.3:
            template = "CASE WHEN {0} THEN {1} END"
            return made(template, kind, is_so, one, nullable=True)
        other = self.value(kind, depth)
        if not one.atoms | other.atoms:
            return one
        template = "CASE WHEN {0} THEN {1} ELSE {2} END"
        return made(template, kind, is_so, one, other)

    def _present(self, kind: str, depth: int) -> Expr:
        one = self.take(kind, only=lambda each: each.nullable)
        if not one.nullable:
            return one
        other = self.value(kind, depth)
        return made("coalesce({0}, {1})", kind, one, other, nullable=other.nullable)

    def _query(self, kind: str, depth: int) -> Expr:
        """Return a value of another table's rows, found by a column of this one."""
        joins = self._joins()
        if not joins:
            return self.take(kind)
        source = self.sql._table()
        alias = f"s{len(self.sql.uses)}"
        columns = source.query.named(alias)
        numbers = [each for each in columns if each.kind == NUMBER]
        by = (self.seeded.choice(numbers), self.seeded.choice(joins))
        values = [e for e in columns if e.kind == kind and e.text != by[0].text]
        if not values:
            return self.take(kind)
        of = self.seeded.choice(values)
        text = "(SELECT max({0}) FROM SOURCE WHERE {1} = {2})"
        found = made(text, kind, of, by=by, nullable=True)
        return _read(found, source, alias)

    def _sum(self, kind: str, depth: int) -> Expr:
        sign = self.seeded.choice("+-")
        return made(f"({{0}} {sign} {{1}})", kind, *self._two(kind, depth))

    def _two(self, kind: str, depth: int) -> Tuple[Expr, Expr]:
        return self.value(kind, depth), self.value(kind, depth)

    def _length(self, kind: str, depth: int) -> Expr:
        return made("length({0})", kind, self.value(TEXT, depth))

    def _greatest(self, kind: str, depth: int) -> Expr:
        one = self.value(kind, depth)
        other = self.take(kind, only=lambda each: each.is_plain)
        return made("greatest({0}, {1})", kind, one, other) if other.is_plain else one

    def _unless(self, kind: str, depth: int) -> Expr:
        one = self.take(kind, only=lambda each: each.is_plain)
        other = self.take(kind, only=lambda each: each.is_plain)
        if not one.is_plain or not other.is_plain:
            return one
        return made("nullif({0}, {1})", kind, one, other, nullable=True)

    def _cast(self, kind: str, depth: int) -> Expr:
        return made("CAST({0} AS string)", kind, self.value(NUMBER, depth))

    def _upper(self, kind: str, depth: int) -> Expr:
        return made("upper({0})", kind, self.value(TEXT, depth))

    def _joined(self, kind: str, depth: int) -> Expr:
        return made("concat({0}, {1})", kind, *self._two(TEXT, depth))

    @property
    def _of_kind(self) -> Dict[str, list]:
        return {
            NUMBER: [self._sum, self._length, self._greatest, self._unless],
            TEXT: [self._cast, self._upper, self._joined],
            TIME: [],
        }

    def condition(self) -> Optional[Expr]:
        """Return a condition of columns, or of whether rows exist; None without any."""
        how = self.seeded.random()
        if how < 0.15 and (found := self._exists()):
            return found
        plain = self.take(NUMBER, only=lambda each: each.is_plain)
        if not plain.is_plain:
            return None
        if how < 0.4:
            return made(f"{{0}} < {self.seeded.randint(2, 8)}", NUMBER, plain)
        if how < 0.5:
            return made("{0} IS NULL", NUMBER, plain, nullable=False)
        if how < 0.6:
            source = self.sql._plain_query()
            column = source.columns[0]
            inner = Expr(
                f"({source.text})",
                f"(SELECT {column.value} FROM ({source.engine}))",
                f"(SELECT {column.fixed} FROM ({source.engine}))",
                NUMBER,
                column.atoms,
            )
            return made("{0} IN {1}", NUMBER, plain, inner)
        return made("{0} < {1}", NUMBER, plain, self.take(NUMBER))

    def _joins(self) -> List[Expr]:
        """List columns that find rows of a query within, which may have their names."""
        return [
            each
            for each in self.columns
            if each.kind == NUMBER and each.is_plain and re.match(r"\w+\.|x", each.text)
        ]

    def _exists(self) -> Optional[Expr]:
        joins = self._joins()
        if not joins:
            return None
        source = self.sql._table()
        alias = f"s{len(self.sql.uses)}"
        columns = source.query.named(alias)
        numbers = [each for each in columns if each.kind == NUMBER]
        by = [self.seeded.choice(of) for of in (columns, numbers, joins)]
        text = "EXISTS (SELECT {0} FROM SOURCE WHERE {1} = {2})"
        return _read(made(text, NUMBER, by=by, nullable=False), source, alias)


def _read(found: Expr, source: Source, alias: str) -> Expr:
    """Put a source into an expression that has a query."""
    engine = f"{source.engine} AS {alias}"
    return replace(
        found,
        text=found.text.replace("SOURCE", f"{source.text} AS {alias}"),
        value=found.value.replace("SOURCE", engine),
        fixed=found.fixed.replace("SOURCE", engine),
    )
