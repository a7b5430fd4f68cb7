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

    Raises BadSql where DuckDB has nothing that means the same.
    """
    try:
        tree = sqlglot.parse_one(text, dialect=SPARK)
        return tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE)
    except (UnsupportedError, ParseError, TokenError) as error:
        raise BadSql(1, str(error).split("\n")[0].rstrip(".")) from None
    except _FAULTS_OF_ITS_OWN as error:
        raise BadSql(1, f"it cannot be translated ({type(error).__name__})") from None


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
