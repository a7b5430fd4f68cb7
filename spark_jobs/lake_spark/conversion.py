"""From a file's type to the table's, as SQL: values, and which cannot be read.

Nested types are converted by the names of their fields, in any order and case;
a field that the file lacks is null. Both engines use these texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from lake_spec.column_type import ColumnType
from lake_spec.encodings import EPOCHS, TYPES, UNSIGNED
from lake_spec.sql_text import sql_identifier, sql_literal
from lake_spark.encoded import decoded, is_whole
from lake_spark.moments import in_utc, moment
from lake_spark.widening import field_of, mismatch

_WRITTEN = "^[0-9]{4}-"
"""How a time begins that is no number of units."""

_NUMBERS = ("int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class Conversion:
    """How the values of one column are read.

    `null_text` are texts that mean no value; `empty` whether a missing text is
    the empty one; `pattern` and `timezone` say how text is a time, or `pattern` how
    a value is encoded; `local_times` that timestamps are of a clock in `timezone`.
    """

    null_text: Tuple[str, ...] = ()
    empty: bool = False
    pattern: Optional[str] = None
    timezone: str = "UTC"
    local_times: bool = False

    def reads(self, found: ColumnType, table: ColumnType) -> bool:
        """Whether the column's format says what the file's whole numbers stand for."""
        words = EPOCHS if table.name in ("date", "timestamp") else (UNSIGNED,)
        is_told = table.name in TYPES.get(self.pattern or "", ())
        return self.pattern in words and is_told and is_whole(found)

    def value(
        self, column: str, found: ColumnType, table: ColumnType, depth: int = 0
    ) -> str:
        """An expression of the table's type; null where it cannot be read."""
        if found.name == "string":
            return self._from_text(self.text(column), table)
        if found == table and not self.local_times:
            return column
        if self.reads(found, table):
            return decoded(column, self.pattern or "", table)
        if not (found.is_nested and found.name == table.name):
            return self._cast(column, found, table)
        if table.name == "struct":
            return self._struct(column, found, table, depth)
        each = f"x{depth}"
        values = self.value(each, found.inner[-1], table.inner[-1], depth + 1)
        if table.name == "array":
            return f"transform({column}, {each} -> {values})"
        if found.inner[0] != table.inner[0] or self.local_times:
            keys = self.value("k", found.inner[0], table.inner[0], depth + 1)
            column = f"transform_keys({column}, (k, v) -> {keys})"
        return f"transform_values({column}, (k, {each}) -> {values})"

    def fault(
        self, column: str, found: ColumnType, table: ColumnType, depth: int = 0
    ) -> str:
        """An expression: whether a part of the value cannot be read; '' if none can."""
        if found.name == "string":
            if table.name == "string":
                return ""
            typed = self.value(column, found, table)
            return f"({self.text(column)} IS NOT NULL AND {typed} IS NULL)"
        if self.reads(found, table):
            typed = self.value(column, found, table)
            return f"({column} IS NOT NULL AND {typed} IS NULL)"
        if found.is_nested and found.name == table.name:
            return self._fault_inside(column, found, table, depth)
        if mismatch(found, table, "") is None:
            return ""
        return self._does_not_fit(column, found, table)

    def text(self, column: str) -> str:
        """A text, null where it is one of the null texts."""
        value = f"coalesce({column}, '')" if self.empty else column
        if not self.null_text:
            return value
        nulls = ", ".join(sql_literal(text) for text in self.null_text)
        return f"CASE WHEN {value} IN ({nulls}) THEN NULL ELSE {value} END"

    def _struct(
        self, column: str, found: ColumnType, table: ColumnType, depth: int
    ) -> str:
        parts = []
        for name, wanted in zip(table.fields, table.inner):
            match = field_of(found, name)
            value = f"CAST(NULL AS {wanted.text})"
            if match:
                place = f"{column}.{sql_identifier(match[0])}"
                value = self.value(place, match[1], wanted, depth)
            parts.append(f"{value} AS {sql_identifier(name)}")
        return f"CASE WHEN {column} IS NOT NULL THEN struct({', '.join(parts)}) END"

    def _fault_inside(
        self, column: str, found: ColumnType, table: ColumnType, depth: int
    ) -> str:
        if table.name == "struct":
            matches = [
                (field_of(found, name), wanted)
                for name, wanted in zip(table.fields, table.inner)
            ]
            faults = [
                self.fault(f"{column}.{sql_identifier(m[0])}", m[1], wanted, depth)
                for m, wanted in matches
                if m
            ]
        else:
            lists = [column]
            if table.name == "map":
                lists = [f"map_keys({column})", f"map_values({column})"]
            faults = [
                self._fault_of_each(each, inner, wanted, depth)
                for each, inner, wanted in zip(lists, found.inner, table.inner)
            ]
        found_some = [fault for fault in faults if fault]
        return f"({' OR '.join(found_some)})" if found_some else ""

    def _fault_of_each(
        self, values: str, found: ColumnType, table: ColumnType, depth: int
    ) -> str:
        each = f"x{depth}"
        fault = self.fault(each, found, table, depth + 1)
        return f"exists({values}, {each} -> {fault})" if fault else ""

    def _from_text(self, text: str, table: ColumnType) -> str:
        kind = table.text
        if self.pattern in TYPES and table.name in TYPES[self.pattern]:
            return self._encoded(text, table)
        if table.name == "string":
            return text
        if table.name in ("date", "timestamp"):
            return moment(text, table.name, self.pattern, self.timezone)
        if table.is_nested:
            return f"from_json({text}, {sql_literal(kind)})"
        if table.name == "binary":
            return f"CAST({text} AS binary)"
        if table.name == "decimal":
            return self._decimal(text, table)
        return f"try_cast({text} AS {kind})"

    def _encoded(self, text: str, table: ColumnType) -> str:
        """Times that are written out are read too: a full load by another reader."""
        value = decoded(text, self.pattern or "", table)
        if self.pattern not in EPOCHS:
            return value
        written = moment(text, table.name, None, self.timezone)
        return f"CASE WHEN {text} RLIKE '{_WRITTEN}' THEN {written} ELSE {value} END"

    def _decimal(self, text: str, table: ColumnType) -> str:
        """More digits than declared are unreadable, never rounded."""
        typed = f"try_cast({text} AS {table.text})"
        exact = f"try_cast({text} AS decimal(38,18))"
        zeros = rf"([.][0-9]{{0,{table.digits[1]}}}0*)?"
        plain = sql_literal(rf"^\s*[+-]?[0-9]*{zeros}\s*$")
        power = sql_literal("[eE]")
        fits = f"{text} RLIKE {plain} OR ({text} RLIKE {power} AND {typed} = {exact})"
        return f"CASE WHEN {fits} THEN {typed} END"

    def _cast(self, column: str, found: ColumnType, table: ColumnType) -> str:
        if mismatch(found, table, "") is not None:
            return self._where_it_fits(column, found, table)
        if found.name == "float" and table.name == "double":
            # 0.1 stays 0.1: the digits that the float was written with.
            return f"CAST(CAST({column} AS string) AS double)"
        zoneless = ("timestamp_ntz", "timestamp" if self.local_times else "")
        if found.name in zoneless and table.name == "timestamp":
            return in_utc(f"CAST({column} AS timestamp)", self.timezone)
        return f"CAST({column} AS {table.text})"

    def _where_it_fits(self, column: str, found: ColumnType, table: ColumnType) -> str:
        """The value in a narrower type; null of another type altogether."""
        if _is_narrower(found, table):
            return f"try_cast({column} AS {table.text})"
        return f"CAST(NULL AS {table.text})"

    def _does_not_fit(self, column: str, found: ColumnType, table: ColumnType) -> str:
        if not _is_narrower(found, table):
            return f"({column} IS NOT NULL)"
        typed = self._where_it_fits(column, found, table)
        if table.name == "float":
            typed = f"CAST({typed} AS string)"
        back = f"CAST({typed} AS {found.text})"
        return f"({column} IS NOT NULL AND NOT ({back} <=> {column}))"


def _is_narrower(found: ColumnType, table: ColumnType) -> bool:
    """Whether some values of the file's type can be values of the table's."""
    numbers = found.stored.name in _NUMBERS and table.name in _NUMBERS
    return numbers or (found.name, table.name) == ("timestamp", "date")
