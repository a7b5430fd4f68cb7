"""From a file's type to the table's, as SQL: values, and which cannot be read.

Nested types are converted by the names of their fields, in any order and case;
a field that the file lacks is null. Both engines use these texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, Optional, Tuple

from lake_spec.model.column_type import ColumnType
from lake_spec.model.number_format import NumberFormat
from lake_spec.text.encodings import EPOCHS, TYPES, UNSIGNED
from lake_spec.text.sql_text import sql_identifier, sql_literal
from lake_spark.schema import json_text
from lake_spark.schema.columns import TEXT
from lake_spark.schema.encodings import decoded, is_whole
from lake_spark.schema.promotion import NULL_TYPE, READ_AS, field_of, mismatch
from lake_spark.schema.timestamps import in_utc, timestamp

_WRITTEN = "^[0-9]{4}-"
"""How a time begins that is no number of units."""

_WHOLE_TEXT = sql_literal(r"\A *[+-]?[0-9]+ *\z")
_NUMBER_TEXT = sql_literal(
    r"\A *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *\z"
)
_NOTHING_TEXT = sql_literal(r"\A *[+-]?[0.]+([eE].*)?\z")
_LONG_TEXT = sql_literal(r"\A *[+-]?[0-9]{16,} *\z")
_POWER_TEXT = sql_literal(r"[eE][+-]?[0-9]{1,4} *\z")
_NO_NUMBER_TEXT = sql_literal(r"\A *(?i:nan|[+-]?inf(inity)?) *\z")
_WORD_TEXT = sql_literal(r"\A *[A-Za-z01]+ *\z")
"""Blanks around a value, and a plus before a number, are read; no other character is."""
_UUID = sql_literal("^(.{8})(.{4})(.{4})(.{4})(.{12})$")
_MICROS = sql_literal("yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
_DIGITS = {"time_millis": 3, "time_micros": 6, "time_nanos": 9}
"""Behind the point of a second."""

_NUMBERS = ("int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class Conversion:
    """How the values of one column are read.

    `null_text` are texts that mean no value; `empty` whether a missing text is
    the empty one; `pattern` and `timezone` say how text is a time, or `pattern` how
    a value is encoded; `numbers` how texts are numbers; `local_times` that timestamps
    are of a clock in `timezone`; `marked` that texts may be numbers of JSON (json_text.MARK).
    """

    null_text: Tuple[str, ...] = ()
    empty: bool = False
    pattern: Optional[str] = None
    timezone: str = "UTC"
    local_times: bool = False
    marked: bool = False
    numbers: Optional[NumberFormat] = None

    def reads(self, found: ColumnType, table: ColumnType) -> bool:
        """Return whether the column's format says what the file's whole numbers mean."""
        words = EPOCHS if table.name in ("date", "timestamp") else (UNSIGNED,)
        is_known = table.name in TYPES.get(self.pattern or "", ())
        return self.pattern in words and is_known and is_whole(found)

    def value(
        self, column: str, found: ColumnType, table: ColumnType, depth: int = 0
    ) -> str:
        """Return an expression of the table's type; null where it cannot be read."""
        if found.name == "string":
            return self._from_text(self.text(column), table)
        if found == table and not self.local_times and not self._has_marks(found):
            return column
        if self.reads(found, table):
            return decoded(column, self.pattern or "", table)
        if found.name in READ_AS:
            return self._of_parquet(column, found.name, table)
        if found.is_nested and table.name == "string":
            return f"to_json({column})"
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
        self,
        column: str,
        found: ColumnType,
        table: ColumnType,
        depth: int = 0,
        value: Optional[str] = None,
    ) -> str:
        """Return an expression: whether a part of the value cannot be read; '' if none can.

        `value` is what `value` gives, where it is at hand.
        """
        if found.name == "string":
            if table.name == "string":
                return ""
            if table.is_nested:
                return self._fault_of_text(self.text(column), table)
            typed = value or self.value(column, found, table)
            return f"({self.text(column)} IS NOT NULL AND {typed} IS NULL)"
        if self.reads(found, table):
            typed = value or self.value(column, found, table)
            return f"({column} IS NOT NULL AND {typed} IS NULL)"
        if found.is_nested and found.name == table.name:
            return self._fault_inside(column, found, table, depth, value)
        if found.name in READ_AS and mismatch(found, table, "") is None:
            typed = value or self.value(column, found, table)
            return f"({column} IS NOT NULL AND {typed} IS NULL)"
        if (found.name, table.name) == ("binary", "string"):
            return f"({column} IS NOT NULL AND {is_no_utf8(column)})"
        if mismatch(found, table, "") is None:
            return ""
        return self._does_not_fit(column, found, table)

    def reason(
        self, column: str, found: ColumnType, table: ColumnType, name: str
    ) -> str:
        """Return an expression: (words, value) of the part that cannot be read.

        Only right where `fault` is true.
        """
        return self._reason(column, found, table, name, 0)

    def _reason(
        self, column: str, found: ColumnType, table: ColumnType, name: str, depth: int
    ) -> str:
        form = self.numbers if table.name in _NUMBERS else None
        kind = f"{table.text} ({form.words})" if form else table.text
        words = f"{name}: cannot be read as {kind}: "
        plain = _reason(words, self.shown(column, found))
        if not table.is_nested:
            return plain
        if found.name == "string":
            text = self.text(column)
            return self._reason_of_text(text, table, name, plain, depth)
        if found.name != table.name:
            return plain
        cases = self._reasons_inside(column, found, table, name, depth)
        return f"coalesce({', '.join([*cases, plain])})"

    def _reasons_inside(
        self, column: str, found: ColumnType, table: ColumnType, name: str, depth: int
    ) -> List[str]:
        """Return the reason of each part that cannot be read; null for the others."""
        if table.name == "struct":
            cases = []
            for field, wanted in zip(table.fields, table.inner):
                match = field_of(found, field)
                if match:
                    place = f"{column}.{sql_identifier(match[0])}"
                    cases += self._case(
                        place, match[1], wanted, f"{name}.{field}", depth
                    )
            return cases
        lists = [(column, found.inner[-1], table.inner[-1])]
        if table.name == "map":
            lists = [
                (f"map_{part}({column})", found.inner[i], table.inner[i])
                for i, part in enumerate(("keys", "values"))
            ]
        found_reasons = []
        for values, inner, wanted in lists:
            each = f"r{depth}"
            for case in self._case(each, inner, wanted, f"{name}[]", depth + 1):
                all_reasons = (
                    f"filter(transform({values}, {each} -> {case}), w -> w IS NOT NULL)"
                )
                found_reasons.append(f"get({all_reasons}, 0)")
        return found_reasons

    def _case(
        self, place: str, found: ColumnType, table: ColumnType, name: str, depth: int
    ) -> List[str]:
        fault = self.fault(place, found, table, depth)
        if not fault:
            return []
        return [
            f"CASE WHEN {fault} THEN {self._reason(place, found, table, name, depth)} END"
        ]

    def shown(self, column: str, found: ColumnType) -> str:
        """Return an expression: the value as text, for a message."""
        if found.is_nested:
            return f"to_json({column})"
        if found.name == "binary":
            return f"'bytes that are not UTF-8: ' || hex(substring({column}, 1, 100))"
        return self._unmarked(f"CAST({column} AS string)")

    def _unmarked(self, text: str) -> str:
        return json_text.unmarked(text) if self.marked else text

    def _has_marks(self, found: ColumnType) -> bool:
        return self.marked and found.is_nested

    def text(self, column: str) -> str:
        """Return a text, null where it is one of the null texts."""
        column = self._unmarked(column)
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
        self,
        column: str,
        found: ColumnType,
        table: ColumnType,
        depth: int,
        value: Optional[str],
    ) -> str:
        if table.name == "struct":
            faults = []
            for name, wanted in zip(table.fields, table.inner):
                match = field_of(found, name)
                if match:
                    place = f"{column}.{sql_identifier(match[0])}"
                    typed = f"{value}.{sql_identifier(name)}" if value else None
                    faults.append(self.fault(place, match[1], wanted, depth, typed))
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
            return timestamp(text, table.name, self.pattern, self.timezone)
        if table.is_nested:
            return self._from_json(text, table)
        if table.name == "binary":
            return f"CAST({text} AS binary)"
        if table.name in _NUMBERS and self.numbers is not None:
            number = replace(self, numbers=None)._from_text("n", table)
            plain = _plain_number(text, self.numbers)
            return f"transform(array({plain}), n -> {number})[0]"
        if table.name == "decimal":
            return self._decimal(text, table)
        if table.name in ("float", "double"):
            return self._floating(text, table)
        grammar = _WORD_TEXT if table.name == "boolean" else _WHOLE_TEXT
        return f"CASE WHEN {text} RLIKE {grammar} THEN try_cast({text} AS {kind}) END"

    def _floating(self, text: str, table: ColumnType) -> str:
        """Return a number that the type can hold: what overflows or loses digits is null.

        A float keeps the digits that are written of it, nine at most.
        """
        number = f"try_cast({text} AS {table.name})"
        held = f"abs({number}) < double('Infinity')"
        held += f" AND ({number} != 0 OR {text} RLIKE {_NOTHING_TEXT})"
        if table.name == "double":
            # A whole number stays the same down to its last digit that is not zero.
            digits = f"trim({text})"
            zeros = f"length({digits}) - length(rtrim('0', {digits}))"
            off = f"abs(CAST({number} AS bigint) - try_cast({text} AS bigint)) * 2"
            long = f"{text} RLIKE {_LONG_TEXT} AND abs({number}) < 9e18"
            held += f" AND NOT ({long} AND {off} > pow(10, {zeros}))"
        if table.name == "float":
            wide = f"try_cast({text} AS double)"
            back = (
                f"CAST({number} AS double)",
                f"CAST(CAST({number} AS string) AS double)",
                f"CAST(format_string('%.8e', CAST({number} AS double)) AS double)",
            )
            held += f" AND ({' OR '.join(f'{wide} = {each}' for each in back)})"
        return (
            f"CASE WHEN {text} RLIKE {_NUMBER_TEXT} THEN if({held}, {number}, NULL)"
            f" WHEN {text} RLIKE {_NO_NUMBER_TEXT} THEN {number} END"
        )

    def _inside(self) -> "Conversion":
        """Return how values inside a text are read: a text that CSV calls none counts."""
        null_text = () if self.empty else self.null_text
        return replace(
            self, empty=False, null_text=null_text, marked=True, numbers=None
        )

    def _as_text(self, kind: ColumnType) -> ColumnType:
        """Return the type with text for each single value, as JSON is read first."""
        if not kind.is_nested:
            return TEXT
        return replace(kind, inner=tuple(map(self._as_text, kind.inner)))

    def _from_json(self, text: str, table: ColumnType) -> str:
        """Read a nested value of JSON text: strict as the columns of a JSON file are."""
        found = self._as_text(table)
        parsed = json_text.parsed(text, found)
        inner = self._inside()
        body = inner.value(json_text.value_of("j"), found, table, 10)
        value = f"if({json_text.is_whole(text, 'j')}, {body}, NULL)"
        return f"transform(array({parsed}), j -> {value})[0]"

    def _fault_of_text(self, text: str, table: ColumnType) -> str:
        found = self._as_text(table)
        parsed = json_text.parsed(text, found)
        inner = self._inside()
        value = json_text.value_of("j")
        bad = inner.fault(value, found, table, 10) or "false"
        good = (
            f"{json_text.is_whole(text, 'j')} AND {value} IS NOT NULL"
            f" AND NOT coalesce({bad}, false)"
            f" AND NOT {json_text.has_name_twice(text, table)}"
        )
        return (
            f"({text} IS NOT NULL AND NOT transform(array({parsed}), j -> {good})[0])"
        )

    def _reason_of_text(
        self, text: str, table: ColumnType, name: str, plain: str, depth: int
    ) -> str:
        found = self._as_text(table)
        parsed = json_text.parsed(text, found)
        inner = self._inside()
        value = json_text.value_of("j")
        parts = inner._reasons_inside(value, found, table, name, depth + 10)
        twice = json_text.has_name_twice(text, table)
        is_whole = json_text.is_whole(text, "j")
        after = f"json_object_keys({text}) IS NOT NULL AND NOT {is_whole}"
        inside = f"coalesce({', '.join([*parts, plain])})"
        rest = _reason(f"{name}: is not one value of {table.text}: ", text)
        chosen = (
            f"CASE WHEN {twice} THEN {_reason(name + ': a name is there twice: ', text)}"
            f" WHEN {json_text.is_whole(text, 'j')} THEN {inside}"
            f" WHEN {after} THEN {rest} ELSE {plain} END"
        )
        return f"transform(array({parsed}), j -> {chosen})[0]"

    def _encoded(self, text: str, table: ColumnType) -> str:
        """Read times that are written out too: a full load by another reader."""
        value = decoded(text, self.pattern or "", table)
        if self.pattern not in EPOCHS:
            return value
        written = timestamp(text, table.name, None, self.timezone)
        number = f"if({text} RLIKE {_WHOLE_TEXT}, {value}, NULL)"
        return f"CASE WHEN {text} RLIKE '{_WRITTEN}' THEN {written} ELSE {number} END"

    def _decimal(self, text: str, table: ColumnType) -> str:
        """Read a decimal: more digits than declared are unreadable, never rounded."""
        typed = f"try_cast({text} AS {table.text})"
        scale = table.digits[1]
        zeros = rf"([.][0-9]{{0,{scale}}}0*)?"
        plain = sql_literal(rf"\A *[+-]?[0-9]*{zeros} *\z")
        digits = f"regexp_extract({text}, '^ *[+-]?([0-9.]*)', 1)"
        whole = f"substring_index({digits}, '.', 1)"
        rest = f"rtrim('0', if({digits} LIKE '%.%', substring_index({digits}, '.', -1), ''))"
        power = f"try_cast(regexp_extract({text}, '[eE]([+-]?[0-9]+)', 1) AS int)"
        finest = (
            f"CASE WHEN rtrim('0', replace({digits}, '.', '')) = '' THEN 0"
            f" WHEN {rest} != '' THEN length({rest}) - {power}"
            f" ELSE length(rtrim('0', {whole})) - length({whole}) - {power} END"
        )
        fits = (
            f"{text} RLIKE {plain} OR ({text} RLIKE {_NUMBER_TEXT}"
            f" AND {text} RLIKE {_POWER_TEXT} AND {finest} <= {scale})"
        )
        # Java takes minutes for the digits of a number of megabytes.
        return f"CASE WHEN length({text}) < 20000 AND ({fits}) THEN {typed} END"

    def _of_parquet(self, column: str, name: str, table: ColumnType) -> str:
        """Read types that Spark reads as numbers or bytes; null if digits would be lost."""
        if name == NULL_TYPE:
            return f"CAST(NULL AS {table.text})"
        if name.startswith("time_"):
            return _time_of_day(column, name, table)
        if table.name == READ_AS[name]:
            return column
        if name == "uuid" and table.name == "string":
            return f"lower(regexp_replace(hex({column}), {_UUID}, '$1-$2-$3-$4-$5'))"
        if name == "uuid" or table.name not in ("timestamp", "string"):
            return f"CAST(NULL AS {table.text})"
        is_local = name == "timestamp_ntz_nanos"
        rest = f"pmod({column}, 1000)"
        micros = f"timestamp_micros(({column} - {rest}) div 1000)"
        if table.name == "timestamp":
            exact = in_utc(micros, self.timezone) if is_local else micros
            return f"CASE WHEN {rest} = 0 THEN {exact} END"
        text = f"date_format({micros}, {_MICROS}) || lpad({rest}, 3, '0')"
        return text if is_local else f"{text} || 'Z'"

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
        """Return the value in a narrower type; null of another type altogether."""
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


def _plain_number(text: str, form: NumberFormat) -> str:
    """Return an expression: the number as programs write it; null where it is not so written.

    Words such as NaN stay. `1.23` with groups by a point is no number, nor 123.
    """
    marks = sql_literal(form.decimal.value + form.groups)
    whole = sql_literal(rf"\A *{form.pattern} *\z")
    return (
        f"CASE WHEN {text} RLIKE {whole}"
        f" THEN translate({text}, {marks}, '.')"
        f" WHEN {text} RLIKE {_NO_NUMBER_TEXT} THEN {text} END"
    )


def _reason(words: str, value: str) -> str:
    """Return SQL: why a value cannot be read, apart from the value, which may be long."""
    return f"named_struct('words', {sql_literal(words)}, 'value', {value})"


def _time_of_day(column: str, name: str, table: ColumnType) -> str:
    """Return a time of a day as text, `23:59:59.000001`, or as a number of microseconds."""
    digits = _DIGITS[name]
    if table.name == "bigint":
        if digits <= 6:
            return f"CAST({column} AS bigint) * {10 ** (6 - digits)}"
        return f"CASE WHEN {column} % 1000 = 0 THEN {column} div 1000 END"
    if table.name != "string":
        return f"CAST(NULL AS {table.text})"
    second, rest = f"{column} div {10 ** digits}", f"{column} % {10 ** digits}"
    parts = (f"({second}) div 3600", f"(({second}) div 60) % 60", f"({second}) % 60")
    clock = ", ".join(f"lpad({part}, 2, '0')" for part in parts)
    return f"concat_ws(':', {clock}) || '.' || lpad({rest}, {digits}, '0')"


def is_no_utf8(column: str) -> str:
    """Return an expression: whether bytes or a text are no UTF-8; null where it is.

    Java reads what is no UTF-8 as U+FFFD, so writing it again gives other bytes.
    """
    bytes_ = f"CAST({column} AS binary)"
    return f"NOT encode(decode({bytes_}, 'UTF-8'), 'UTF-8') = {bytes_}"


def _is_narrower(found: ColumnType, table: ColumnType) -> bool:
    """Return whether some values of the file's type can be values of the table's."""
    numbers = found.stored.name in _NUMBERS and table.name in _NUMBERS
    return numbers or (found.name, table.name) == ("timestamp", "date")
