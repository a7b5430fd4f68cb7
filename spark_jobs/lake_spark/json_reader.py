"""JSON lines: one object a line, read as text and taken apart by strict expressions.

Both engines use them: on the executors, in one pass. See json_text.
"""

from __future__ import annotations

from typing import List, Sequence

from pyspark.sql import DataFrame, SparkSession

from lake_spec.column_type import ColumnType
from lake_spec.sql_text import sql_identifier, sql_literal
from lake_spark import json_text, literal_paths
from lake_spark.shape import CORRUPT, Shape

_BOM = "\ufeff"
_AFTER = r"(?:[^,\]}\s]|,\s*+\{\s*+\})"
"""What a `}` is not followed by inside of an object that holds others."""
_SPACED = '" :'
_NULL = r'"(?<!\\")\s*+:\s*+null\s*+[,}]'


def line() -> str:
    """SQL: a line of the text source without the file's byte order mark."""
    mark = sql_literal(_BOM)
    return f"CASE WHEN startswith(value, {mark}) THEN substr(value, 2) ELSE value END"


HOLDS_SOMETHING = r"btrim(value, ' \t\r') <> ''"
"""SQL: whether a line of the text source is a record."""


def layers(shape: Shape) -> List[List[str]]:
    """The columns that lead from a line to the record's: each layer is of the one before.

    The last one has the columns that the shape is read as, and CORRUPT: the line, where it
    is not one whole object. Most lines are found good by counting: one `"` and `:` for each
    value. Where the counts differ, or something looks odd, the line is looked at closely.
    """
    columns = shape.read_as
    names = [sql_identifier(name) for name, _ in columns]
    schema = ", ".join(f"{n} {kind.text}" for n, (_, kind) in zip(names, columns))
    tree = ColumnType(
        "struct", tuple(kind for _, kind in columns), tuple(n for n, _ in columns)
    )
    is_flat = json_text.depth_of(tree) == 1
    still_odd = _is_odd("lake_text", is_flat, "")
    text = f"if(lake_odd, {json_text.marked('lake_line')}, lake_line)"
    row = json_text.from_json("lake_text", f"{schema}, {json_text.BROKEN} string")
    colons = _times("lake_line", '":')
    nulls = f"regexp_count(lake_line, {sql_literal(_NULL)})"
    is_counted = f"NOT lake_odd AND (lake_more = 0 OR lake_more = {nulls})"
    good = (
        f"lake_json.{json_text.BROKEN} IS NULL"
        f" AND CASE WHEN {is_counted} THEN true"
        f" ELSE {_closely(tree)} AND NOT {_loses_names(tree, schema)} END"
    )
    mark = sql_literal(json_text.MARK)
    return [
        [f"{line()} AS lake_line"],
        ["lake_line", f"{_is_odd('lake_line', is_flat, json_text.DIGITS)} AS lake_odd"],
        ["lake_line", "lake_odd", f"{text} AS lake_text"],
        [
            *("lake_line", "lake_text"),
            f"lake_odd AND ({still_odd} OR contains(lake_line, {mark})) AS lake_odd",
            f"{row} AS lake_json",
        ],
        [
            *("lake_line", "lake_text", "lake_odd", "lake_json"),
            f"{colons} - ({_names_in('lake_json', tree)}) AS lake_more",
        ],
        ["lake_line", "lake_json", f"coalesce({good}, false) AS lake_good"],
        [
            "CASE WHEN lake_good THEN lake_json END AS lake_row",
            f"CASE WHEN NOT lake_good THEN lake_line END AS {CORRUPT}",
        ],
        [*(f"lake_row.{name} AS {name}" for name in names), CORRUPT],
    ]


def _loses_names(tree: ColumnType, schema: str) -> str:
    """SQL: whether the line has fields that its type has in another case: Spark is exact.

    The type is what Spark finds in all records, with one spelling of each nested field.
    """
    if json_text.depth_of(tree) == 1:
        return "false"
    again = json_text.from_json(
        json_text.respelled("lake_text", tree), f"{schema}, {json_text.BROKEN} string"
    )
    more = f"({_names_in('j', tree)}) > ({_names_in('lake_json', tree)})"
    return f"coalesce(transform(array({again}), j -> {more})[0], false)"


def _times(text: str, part: str) -> str:
    """SQL: how often a part of ASCII stands in a text, by bytes."""
    without = f"replace({text}, {sql_literal(part)}, '')"
    return f"((octet_length({text}) - octet_length({without})) div {len(part)})"


def _is_odd(text: str, is_flat: bool, digits: str) -> str:
    """SQL: whether a line may be other than one object that Spark reads as it stands."""
    after = r"\s*+\S" if is_flat else rf"\s*+{_AFTER}"
    cases = [rf"(?<=\}}){after}", json_text.SPECIAL, *([digits] if digits else [])]
    pattern = rf"[:,\[}}\\\ufffd](?:{'|'.join(cases)})"
    odd = [
        f"NOT (startswith({text}, '{{') AND endswith({text}, '}}'))",
        f"contains({text}, {sql_literal(_SPACED)})",
        f"{text} RLIKE {sql_literal(pattern)}",
    ]
    if not is_flat:
        odd.append(f"{_times(text, '{')} != {_times(text, '}')}")
    return " OR ".join(odd)


def _names_in(place: str, kind: ColumnType, depth: int = 0) -> str:
    """SQL: how many names stand inside of a value, of those that have a value."""
    if kind.name == "struct":
        counts = []
        for name, inner in zip(kind.fields, kind.inner):
            field = f"{place}.{sql_identifier(name)}"
            inside = _names_in(field, inner, depth) if json_text.depth_of(inner) else ""
            counts.append(f"if({field} IS NULL, 0, 1{inside and f' + {inside}'})")
        return _sum(counts)
    values, each = place, f"e{depth}"
    own = ""
    if kind.name == "map":
        values = f"map_values({place})"
        own = (
            f"size(array_distinct(map_keys({place})))"
            f" - size(filter({values}, {each} -> {each} IS NULL))"
        )
    if not json_text.depth_of(kind.inner[-1]):
        return own or "0"
    one = f"if({each} IS NULL, 0, {_names_in(each, kind.inner[-1], depth + 1)})"
    inside = f"aggregate({values}, 0, (n{depth}, {each}) -> n{depth} + {one})"
    return f"{own} + {inside}" if own else inside


def _sum(counts: Sequence[str]) -> str:
    """SQL: the sum, by halves: thousands of columns in a row are too deep for Spark."""
    if len(counts) < 2:
        return counts[0] if counts else "0"
    half = len(counts) // 2
    return f"({_sum(counts[:half])} + {_sum(counts[half:])})"


def _closely(tree: ColumnType) -> str:
    """SQL: whether a line is one object, no name in it twice, of whole characters."""
    return " AND ".join(
        [
            json_text.is_one_value("lake_line"),
            json_text.is_utf8("lake_line"),
            json_text.is_text("lake_line"),
            f"NOT {json_text.has_name_twice('lake_line', tree)}",
        ]
    )


def load(spark: SparkSession, shape: Shape, uris: Sequence[str]) -> DataFrame:
    """The raw columns of files of one shape, and CORRUPT."""
    rows = literal_paths.load(spark.read, "text", uris).where(HOLDS_SOMETHING)
    for columns in layers(shape):
        rows = rows.selectExpr(*columns)
    return rows


def from_view(shape: Shape, view: str) -> str:
    """The same as SQL over a view of the text source."""
    query = f"SELECT * FROM {view} WHERE {HOLDS_SOMETHING}"
    for columns in layers(shape):
        query = f"SELECT {', '.join(columns)} FROM ({query})"
    return query


def good_lines(spark: SparkSession, uri: str, maps: Sequence[str]) -> DataFrame:
    """The lines of a file in which no name stands twice: they tell what its columns are."""
    lines = literal_paths.load(spark.read, "text", [uri]).where(HOLDS_SOMETHING)
    lines = lines.selectExpr(f"{line()} AS value")
    return lines.where(
        f"{json_text.name_twice('value', maps)} IS NULL AND {json_text.is_utf8('value')}"
    )
