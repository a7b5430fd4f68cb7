"""SQL as a tree: the only module that imports sqlglot, which desks have and MWAA has not."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Tuple, TypeVar, Union

import sqlglot
from sqlglot import exp
from sqlglot.errors import (
    ErrorLevel,
    OptimizeError,
    ParseError,
    TokenError,
    UnsupportedError,
)
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from lake_spec.model.column_type import BadType, ColumnType, parse_type

__all__ = [
    "BadSql",
    "Scope",
    "exp",
    "in_duckdb",
    "kind_of",
    "line_of",
    "parse",
    "qualified",
    "scopes",
    "sources_by_alias",
    "sources_of",
    "text_of",
    "to_sql",
    "tokens",
]

SPARK = "spark"
_FAULTS_OF_ITS_OWN = (
    *(ValueError, LookupError, TypeError, AttributeError),
    RecursionError,
)
"""What sqlglot raises of texts that its own checks do not know."""


class BadSql(ValueError):
    """A text cannot be parsed as Spark SQL.

    Fix: Correct the SQL in the line of the message.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line, self.message = line, message


def tokens(text: str) -> List[Tuple[int, str]]:
    """List the words of a text as they stand there, each with its place. Raises BadSql."""
    try:
        found = sqlglot.tokenize(text, read=SPARK)
    except TokenError:
        raise BadSql(1, "a quote or a comment is not closed") from None
    return [(each.start, text[each.start : each.end + 1]) for each in found]


def parse(text: str) -> List[exp.Expr]:
    """Parse statements, with names in lower case. Raises BadSql."""
    try:
        found = sqlglot.parse(text, read=SPARK)
    except ParseError as error:
        first = error.errors[0]
        line, message = first.get("line") or 1, first.get("description") or ""
        near = str(first.get("highlight") or "").strip()
        raise BadSql(line, _words(message, near)) from None
    except TokenError:
        raise BadSql(1, "a quote or a comment is not closed") from None
    except _FAULTS_OF_ITS_OWN:  # as of a function without its arguments
        raise BadSql(1, "the SQL cannot be parsed") from None
    return [normalize_identifiers(each, dialect=SPARK) for each in found if each]


def _words(message: str, near: str) -> str:
    """Return the parser's message in our words."""
    if message.startswith("Expecting"):
        return f"{message.split('. ')[0].lower()} at {near!r}"
    if message.startswith("Required keyword"):
        return f"something is missing at {near!r}"
    return f"unexpected {near!r}" if near else "the SQL cannot be parsed"


AnyQuery = TypeVar("AnyQuery", bound=exp.Query)


def qualified(
    tree: AnyQuery, columns: Mapping[str, Mapping[str, ColumnType]]
) -> AnyQuery:
    """Return the tree with stars expanded, aliases before columns and types.

    `columns` are those of each view. A column that cannot be resolved stays as it is.
    Raises BadSql.
    """
    kinds: Dict[str, object] = {
        view: {name: kind.text for name, kind in each.items()}
        for view, each in columns.items()
    }
    schema = MappingSchema(kinds, dialect=SPARK)
    try:
        tree = qualify_tables(tree, dialect=SPARK)
        tree = qualify_columns(
            tree, schema, allow_partial_qualification=True, dialect=SPARK
        )
        return annotate_types(tree, schema=schema, dialect=SPARK)
    except OptimizeError as error:
        raise BadSql(line_of(tree), str(error).split("\n")[0].rstrip(".")) from None


def scopes(tree: exp.Expr) -> List[Scope]:
    """List the queries within a query, the inner ones first."""
    return traverse_scope(tree)


def sources_by_alias(scope: Scope) -> Dict[str, Union[Scope, exp.Table]]:
    """Return what a query itself reads, by alias; not all that its WITH names.

    An alias may be the name of a query that is not read under it.
    """
    if not isinstance(scope.expression, exp.Query):  # rows of a function, as of a table
        return dict(scope.sources)
    read = {name for name, _ in scope.references}
    return {name: of for name, of in scope.sources.items() if name in read}


def sources_of(query: exp.Query) -> List[exp.Expr]:
    """List what a query itself reads: of FROM, then of each join; none for a UNION."""
    first = query.args.get("from_")
    parts = [*([first] if first else []), *(query.args.get("joins") or ())]
    return [each.this for each in parts]


def to_sql(tree: exp.Expr) -> str:
    """Return the tree as Spark SQL, every name in backticks.

    Raises BadSql where Spark has no such SQL.
    """
    try:
        return tree.sql(
            dialect=SPARK,
            identify=True,
            comments=False,
            unsupported_level=ErrorLevel.RAISE,
        )
    except UnsupportedError as error:
        raise BadSql(line_of(tree), str(error).split("\n")[0].rstrip(".")) from None
    except _FAULTS_OF_ITS_OWN:  # as of a function that lacks an argument
        raise BadSql(line_of(tree), "an argument may be missing") from None


def in_duckdb(text: str) -> str:
    """Return a compiled query of Spark in DuckDB's SQL.

    What both engines have under one name with two meanings is written anew: a cast to a
    whole number, which cuts off the fraction, `dayofweek`, `weekday`, and a `substring`
    from 0. Functions that sqlglot does not know stay as they are, also where DuckDB does
    not have them.

    Raises BadSql for `hash` and days of the week by EXTRACT or `date_part`, which DuckDB
    counts otherwise, and where sqlglot has no words of DuckDB.
    """
    try:
        tree = _as_spark_means(sqlglot.parse_one(text, dialect=SPARK))
        return tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE)
    except BadSql:
        raise
    except (UnsupportedError, ParseError, TokenError) as error:
        raise BadSql(1, str(error).split("\n")[0].rstrip(".")) from None
    except _FAULTS_OF_ITS_OWN as error:
        raise BadSql(1, f"it cannot be translated ({type(error).__name__})") from None


_WHOLE = exp.DataType.SIGNED_INTEGER_TYPES
_DAYS_OF_WEEK = frozenset({"dayofweek", "dow", "dayofweek_iso", "dow_iso"})


def _as_spark_means(tree: exp.Expr) -> exp.Expr:
    """Return a tree of which DuckDB makes what Spark makes of the given one."""
    for node in reversed(list(tree.walk())):  # inner parts first
        other = _other_words(node)
        if other is not None:
            node.replace(other)
    return tree


def _other_words(node: exp.Expr) -> Optional[exp.Expr]:
    """Return what to write in place of a part of a tree, if anything. Raises BadSql."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.Cast) and node.to.this in _WHOLE and not node.this.is_int:
        return _whole(node.this, node.to)
    if isinstance(node, exp.DayOfWeek):
        return exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1)))
    if name == "weekday":
        (day,) = node.expressions
        iso = exp.Anonymous(this="isodow", expressions=[exp.cast(day.copy(), "date")])
        return exp.paren(exp.Sub(this=iso, expression=exp.Literal.number(1)))
    if isinstance(node, exp.Substring):
        start, other = node.args["start"], node.copy()
        if start.is_int and start.to_py():
            return None
        zero = exp.EQ(this=exp.paren(start.copy()), expression=exp.Literal.number(0))
        first = exp.Case().when(zero, exp.Literal.number(1)).else_(start.copy())
        other.set("start", first)
        return other
    if name == "hash":
        raise BadSql(1, "hash() has other values there")
    part = node.name if isinstance(node, exp.Extract) else ""
    if name in ("date_part", "datepart"):
        part = node.expressions[0].name
    if part.lower() in _DAYS_OF_WEEK:
        raise BadSql(1, f"{part} has other numbers there, but dayofweek() can be used")
    return None


def _whole(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """Return a cast to a whole number that cuts off the fraction of a number or a text.

    DuckDB alone knows the type of a value. It binds each way for any type, so a way that a
    type does not take begins with its text.
    """

    def cut_off(by: str) -> exp.Expr:
        text = exp.cast(value.copy(), "text")
        number = exp.TryCast(this=text, to=exp.DataType.build(by))
        cut = exp.Anonymous(this="trunc", expressions=[number])
        return exp.TryCast(this=cut, to=kind.copy())

    found = exp.Anonymous(this="typeof", expressions=[value.copy()])
    floats = found.copy().isin("FLOAT", "DOUBLE")
    exact = exp.or_(found.copy().eq("VARCHAR"), found.copy().like("DECIMAL%"))
    return exp.paren(
        exp.Case()
        .when(floats, cut_off("double"))
        .when(exact, cut_off("decimal(38, 18)"))
        .else_(exp.TryCast(this=value.copy(), to=kind.copy()))
    )


def text_of(tree: exp.Expr) -> str:
    """Return a part of the tree as people write it, for messages."""
    return tree.sql(dialect=SPARK, comments=False)


def line_of(tree: exp.Expr) -> int:
    """Return the line at which a part of a tree begins, or that of what it is in."""
    node: Optional[exp.Expr] = tree
    while node is not None:
        lines: List[int] = [
            each.meta["line"] for each in node.walk() if "line" in each.meta
        ]
        if lines:
            return min(lines)
        node = node.parent
    return 1


def kind_of(tree: exp.Expr) -> Optional[ColumnType]:
    """Return the type of an annotated expression, if it is known to specs."""
    if tree.type is None or tree.is_type(exp.DataType.Type.UNKNOWN):
        return None
    try:
        return parse_type(tree.type.sql(dialect=SPARK).lower()).stored
    except BadType:
        return None
