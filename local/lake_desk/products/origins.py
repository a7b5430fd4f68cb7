"""Which columns of the inputs each column of a product is made of, and how.

Followed are values: what only decides which rows there are (WHERE, ON, GROUP BY), and
the order and groups of a window, are not among them.
"""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, Mapping, Optional, Sequence, Tuple, Union

from lake_desk.products.sql_tree import Scope, exp, scopes, sources_by_alias
from lake_spec.lineage.uses import on_a_way, on_all_ways
from lake_spec.model import ColumnOrigin, ColumnUse, ProductInput

_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RegrCount)
_SUMS = (
    *(exp.Sum, exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance),
    *(exp.VariancePop, exp.Corr, exp.CovarPop, exp.CovarSamp, exp.Kurtosis),
    exp.Skewness,
)
_AS_THEY_ARE = (exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.Subquery)

Use = Tuple[str, str, ColumnUse]
"""A view, one of its columns, and what becomes of its values."""

Sources = Dict[str, Union[Scope, exp.Table]]
"""What a query reads, by alias."""


class _Unfollowed(Exception):
    """Ends the search: SQL has a part that is not followed."""


def origins_of(
    tree: exp.Query, inputs: Mapping[str, ProductInput]
) -> Optional[Tuple[ColumnOrigin, ...]]:
    """Return the origins of each column of a qualified SELECT; None if they are unknown.

    `inputs` are by view.
    """
    search = _Search(scopes(tree), inputs)
    try:
        return tuple(
            ColumnOrigin(name, *use)
            for position, name in enumerate(tree.named_selects)
            for use in search.of_output(search.root, position)
        )
    except _Unfollowed:
        return None


class _Search:
    """The queries of one SELECT, and the inputs that they read."""

    def __init__(
        self, found: Sequence[Scope], inputs: Mapping[str, ProductInput]
    ) -> None:
        self.root = found[-1]
        self._scopes = {id(each.expression): each for each in found}
        self._inputs = inputs
        self._sources: Dict[int, Sources] = {}
        self._outputs: Dict[Tuple[int, int], Tuple[Use, ...]] = {}

    def _sources_of(self, scope: Scope) -> Sources:
        key = id(scope)
        if key not in self._sources:
            self._sources[key] = sources_by_alias(scope)
        return self._sources[key]

    def of_output(self, scope: Scope, position: int) -> Tuple[Use, ...]:
        """Return what a column of a query is made of, found once for all its readers."""
        key = (id(scope.expression), position)
        if key not in self._outputs:
            self._outputs[key] = _each_once(self._of_query(scope, position))
        return self._outputs[key]

    def _of_query(self, scope: Scope, position: int) -> Iterator[Use]:
        """List what a column of a query is made of: of each side of a UNION.

        What is on the right of EXCEPT and INTERSECT only decides which rows there are.
        """
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            both = (query.this, query.expression)
            for side in both if isinstance(query, exp.Union) else both[:1]:
                yield from self.of_output(self._scope(side), position)
        elif isinstance(query, exp.Select) and position < len(query.selects):
            yield from self._of(query.selects[position], scope, ColumnUse.COPIED)
        else:
            raise _Unfollowed

    def _scope(self, query: exp.Expr) -> Scope:
        found: Optional[Scope] = self._scopes.get(id(query.unnest()))
        if found is None:
            raise _Unfollowed
        return found

    def _of(self, node: exp.Expr, scope: Scope, use: ColumnUse) -> Iterator[Use]:
        if isinstance(node, exp.Column):
            yield from self._of_column(node, scope, use)
        elif isinstance(node, exp.Exists) and isinstance(node.this, exp.Query):
            return  # the values of its rows do not matter
        elif isinstance(node, (exp.Window, exp.Filter)):
            yield from self._of(node.this, scope, use)
        elif isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
            for position in range(len(node.selects)):
                for found in self.of_output(self._scope(node), position):
                    yield (*found[:2], on_a_way(use, found[2]))
        else:
            use = on_a_way(use, _use_of(node))
            for child in node.iter_expressions():
                yield from self._of(child, scope, use)

    def _of_column(
        self, column: exp.Column, scope: Scope, use: ColumnUse
    ) -> Iterator[Use]:
        at: Optional[Scope] = scope
        while at is not None and column.table not in self._sources_of(at):
            at = at.parent
        source = self._sources_of(at)[column.table] if at else None
        if isinstance(source, exp.Table) and source.name in self._inputs:
            yield source.name, column.name, use
        elif isinstance(source, Scope) and isinstance(source.expression, exp.Query):
            names = source.expression.named_selects
            if column.name not in names:
                raise _Unfollowed
            for found in self.of_output(source, names.index(column.name)):
                yield (*found[:2], on_a_way(use, found[2]))
        elif isinstance(source, Scope) and at is not None:
            # VALUES, or a function's rows
            yield from self._of(
                source.expression, at, on_a_way(use, ColumnUse.COMPUTED)
            )
        else:
            raise _Unfollowed


def _each_once(uses: Iterable[Use]) -> Tuple[Use, ...]:
    found = on_all_ways(((view, column), use) for view, column, use in uses)
    return tuple((*origin, use) for origin, use in found.items())


def _use_of(node: exp.Expr) -> ColumnUse:
    """Return what a part of an expression makes of the values in it."""
    if isinstance(node, _AS_THEY_ARE):
        return ColumnUse.COPIED
    if isinstance(node, _COUNTS):
        return ColumnUse.DERIVED
    return ColumnUse.SUMMED if isinstance(node, _SUMS) else ColumnUse.COMPUTED
