"""By which rows of its driver a product can be built in part: docs/products.md.

The driver is the first table of FROM. Where every result row depends on driver rows with
equal values in some columns (the unit), and on rows of other tables that are found by
their keys, a change leads to the units that it may change, and only these are built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, List, Mapping, Optional, Set, Tuple

from lake_desk.products.aggregates import aggregates
from lake_desk.products.sql_tree import exp, line_of, sources_of, text_of
from lake_spec.model import Equality, Lookup, ProductInput

PLAIN = "it is plain Parquet (storage.type)"
"""Why a product is built whole whose files are never changed in part."""


@dataclass(frozen=True)
class Parts:
    """How a product can be built in part; else why it cannot."""

    driver: str = ""
    driver_columns: Tuple[str, ...] = ()
    unit: Tuple[str, ...] = ()
    unit_columns: Tuple[str, ...] = ()
    lookups: Tuple[Lookup, ...] = ()
    whole_because: str = ""


class _Whole(Exception):
    """Ends the search for parts, with the reason."""


def parts_of(tree: exp.Query, inputs: Mapping[str, ProductInput]) -> Parts:
    """Find the driver, unit and lookups of a qualified SELECT; `inputs` are by view."""
    try:
        return _Search(tree, inputs).parts()
    except _Whole as reason:
        return Parts(whole_because=str(reason))


class _Search:
    """One SELECT, its tables by alias, and the driver among them."""

    def __init__(self, tree: exp.Query, inputs: Mapping[str, ProductInput]) -> None:
        if not isinstance(tree, exp.Select):
            raise _Whole(f"it has a {tree.key.upper()}")
        inner = [each for each in tree.find_all(exp.Query) if each is not tree]
        if inner:
            raise _Whole(f"it has a subquery in line {min(map(line_of, inner))}")
        source = tree.args.get("from_")
        if source is None:
            raise _Whole("it reads no table")
        if source.this.name not in inputs:
            raise _Whole("its first table is no input")
        self.tree = tree
        self.joins: List[exp.Join] = list(tree.args.get("joins") or ())
        self.alias = source.this.alias_or_name
        self.driver = inputs[source.this.name]
        self.inputs: Dict[str, ProductInput] = {
            each.alias_or_name: inputs[each.name]
            for each in sources_of(tree)
            if isinstance(each, exp.Table)
        }

    def parts(self) -> Parts:
        lookups = self._lookups()
        unit = self._unit()
        shown = self._shown()
        chosen = tuple(name for name in unit if name in shown)
        if not chosen:
            of = f"[{', '.join(unit)}] of {self.driver.table}"
            raise _Whole(f"the SELECT does not show {of} unchanged")
        names = tuple(shown[name] for name in chosen)
        return Parts(self.driver.view, self._used(), chosen, names, lookups)

    def _used(self) -> Tuple[str, ...]:
        """Return the driver's columns that the SELECT names; none where some are unclear."""
        columns = list(self.tree.find_all(exp.Column))
        if not all(each.table and not each.is_star for each in columns):
            return ()
        return tuple(sorted({e.name for e in columns if e.table == self.alias}))

    def _lookups(self) -> Tuple[Lookup, ...]:
        """Return the way of each joined table to the driver. Raises _Whole."""
        before: Set[str] = {self.alias}
        found = []
        for join in self.joins:
            found.append(self._lookup(join, before))
            before.add(join.this.alias_or_name)
        return tuple(found)

    def _lookup(self, join: exp.Join, before: Set[str]) -> Lookup:
        alias = join.this.alias_or_name
        where = f"in line {line_of(join)}"
        if alias not in self.inputs:
            raise _Whole(f"it joins {alias} {where}, which is no table")
        if join.side not in ("", "LEFT") or join.kind == "CROSS":
            raise _Whole(f"it has a {join.side or join.kind} JOIN {where}")
        own = self.inputs[alias]
        for other in sorted(before, key=lambda each: (each != self.alias, each)):
            pairs = _equal_columns(join.args.get("on"), alias, other)
            if own.key and set(own.key) <= set(pairs):
                equal = tuple(Equality(name, pairs[name]) for name in own.key)
                return Lookup(own.view, self.inputs[other].view, equal)
        key = f"[{', '.join(own.key)}]"
        raise _Whole(f"{alias} is not joined by its whole key {key} {where}")

    def _unit(self) -> Tuple[str, ...]:
        """Return driver columns whose equal values make a unit. Raises _Whole."""
        groups = list(self._groups())
        if not groups:
            return self.driver.key
        common = [name for name in groups[0] if all(name in each for each in groups)]
        if not common:
            words = "its GROUP BY, DISTINCT or PARTITION BY have no column in common"
            raise _Whole(f"{words} that is one of {self.driver.table}")
        return tuple(common)

    def _groups(self) -> List[List[str]]:
        """List the driver's columns of each GROUP BY, DISTINCT and PARTITION BY."""
        tree, found = self.tree, []
        group = tree.args.get("group")
        if group is not None:
            others = [name for name, each in group.args.items() if each]
            if others != ["expressions"]:
                raise _Whole("its GROUP BY is not a list of columns")
            found.append(self._own_columns(group.expressions))
        elif aggregates(tree):
            raise _Whole("it aggregates all rows: it has no GROUP BY")
        if tree.args.get("distinct") is not None:
            found.append(self._own_columns(each.unalias() for each in tree.selects))
        for window in tree.find_all(exp.Window):
            columns = self._own_columns(window.args.get("partition_by") or ())
            if not columns:
                text = f"{text_of(window.this)} in line {line_of(window)}"
                raise _Whole(f"{text} has no PARTITION BY a column of the driver")
            found.append(columns)
        return found

    def _own_columns(self, values: Iterable[exp.Expr]) -> List[str]:
        return [
            each.name
            for each in values
            if isinstance(each, exp.Column) and each.table == self.alias
        ]

    def _shown(self) -> Dict[str, str]:
        """Return the product's columns that are plain ones of the driver, by these."""
        found: Dict[str, str] = {}
        for select in self.tree.selects:
            value = select.unalias()
            if isinstance(value, exp.Column) and value.table == self.alias:
                found.setdefault(value.name, select.alias_or_name)
        return found


def _equal_columns(on: Optional[exp.Expr], alias: str, other: str) -> Dict[str, str]:
    """Return the columns of an alias that ON sets equal to some of another."""
    found: Dict[str, str] = {}
    for each in on.flatten() if isinstance(on, exp.And) else filter(None, [on]):
        equal = each.unnest()
        if not isinstance(equal, exp.EQ):
            continue
        for one, two in (
            (equal.this, equal.expression),
            (equal.expression, equal.this),
        ):
            is_pair = isinstance(one, exp.Column) and isinstance(two, exp.Column)
            if is_pair and (one.table, two.table) == (alias, other):
                found.setdefault(one.name, two.name)
    return found
