"""Lines of JSON, read strictly: one whole object, by its own digits. Contract section 8.

Spark's own parser writes a fraction through a double, stops after the first value of a
line and takes the last of two values of one name. So each line is read by Python's, on
the executors. What is single in a record is text, as the file has it (`1.50`, `true`);
what is nested is read as the file's type says, or is its JSON text where that is text:

    row = Struct({"id": Text(), "tags": Array(Text()), "more": Text()})
    row.value(object_of('{"id":1.50,"tags":["a",null],"more":{"b":[1]}}'))
    # ("1.50", ["a", None], '{"b":[1]}')

Workers import this module by itself: it needs no other package than lake_spec.text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple

from lake_spec.text.marked_values import row_value
from lake_spark.formats.reader_columns import sayable

UNPARSED = "the record cannot be parsed"
_NO_TEXT = "the record has bytes that are not UTF-8"
_HALF = "the record has half a character (a lone surrogate) or U+FDD0"
_AFTER = "there is text after the object"
_NO_PLACE = (
    "a field is spelled in another case than in other records, or has no place in its "
    "column"
)

BROKEN = "kafka_broken"
"""The field in which a line of ours has a message that is no object (sources/messages.py)."""

_BOM, _BLANKS = "\ufeff", " \t\r\n"
_MARK = "\ufdd0"
"""Marks numbers in JSON that stands in a column of text (schema/json_text.py)."""
_LONGEST_NUMBER, _LONGEST_TEXT = 1_000, 20_000_000
"""Longer ones Spark does not take when it looks for the columns of a file, so that their
record might have a column that the file is not read with."""

_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_LONE = re.compile(r"\\u(?:[dD][89a-fA-F]|[fF][dD][dD]0)")


class BadRecord(ValueError):
    """Why a line, or a value in it, cannot be read."""


class Number(str):
    """The digits of a number."""

    __slots__ = ()


def text_of(line: bytes) -> str:
    """Return the text of a line without the file's mark; raise UnicodeDecodeError."""
    text = line.decode("utf-8")
    return text[1:] if text.startswith(_BOM) else text


def object_of(text: str, *, any_characters: bool = False) -> Dict[str, Any]:
    """Return the one object that a text is, numbers as `Number`; raise BadRecord.

    `any_characters`: also with half a character, as Spark reads it where it looks for the
    columns of a file.
    """
    if not any_characters:
        _refuse_halves(text)
    text = text.strip(_BLANKS)
    if not text.startswith("{"):
        raise BadRecord(UNPARSED)
    try:
        found: Dict[str, Any]
        found, end = _READER.raw_decode(text)
    except _NameTwice as twice:
        if _end_of(text) < len(text):
            raise BadRecord(_AFTER) from None
        raise _twice(twice.name) from None
    except (ValueError, RecursionError):
        raise BadRecord(UNPARSED) from None
    if end < len(text):
        raise BadRecord(_AFTER)
    if 2 * len(text) > _LONGEST_TEXT:
        _refuse_long_texts(found)
    return found


def _end_of(text: str) -> int:
    """Return where the object ends in which a name is twice."""
    try:
        return _ANY_NAMES.raw_decode(text)[1]
    except (ValueError, RecursionError):
        raise BadRecord(UNPARSED) from None


class _NameTwice(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _twice(name: str) -> BadRecord:
    return BadRecord(f"'{row_value(name)}' is there twice")


def _fields(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _NameTwice(_repeated([name for name, _ in pairs]))
    return found


def _repeated(names: Sequence[str]) -> str:
    """Return the first name in alphabetical order that is there twice, else ''."""
    ordered = sorted(names)
    again = (name for name, next_ in zip(ordered, ordered[1:]) if name == next_)
    return next(again, "")


def _no_constant(word: str) -> NoReturn:
    raise BadRecord(UNPARSED)


_READER = json.JSONDecoder(
    object_pairs_hook=_fields,
    parse_int=Number,
    parse_float=Number,
    parse_constant=_no_constant,
)


_ANY_NAMES = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_no_constant
)


def _refuse_halves(text: str) -> None:
    """Raise BadRecord for half a character, or for the mark."""
    if _MARK in text:
        raise BadRecord(_HALF)
    if "\\u" in text:
        # By a blank, or two halves around it would become a pair.
        bare = text.replace("\\\\", " ")
        if _LONE.search(_PAIR.sub("", bare)):
            raise BadRecord(_HALF)


def _refuse_long_texts(value: Any) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            _refuse_long_texts(name)
            _refuse_long_texts(each)
    elif isinstance(value, list):
        for each in value:
            _refuse_long_texts(each)
    # Java counts a character beyond the first 65,536 as two.
    elif isinstance(value, str) and 2 * len(value) > _LONGEST_TEXT:
        if len(value.encode("utf-16-le")) // 2 > _LONGEST_TEXT:
            raise BadRecord(UNPARSED)


def refuse_repeated_names(
    value: Any, maps: Sequence[str] = (), *, is_map: bool = False
) -> None:
    """Raise BadRecord for names of one object that differ in case alone.

    Not in objects that are values of the names in `maps`, or lie in lists that are: there
    names are values.
    """
    if isinstance(value, dict):
        twice = "" if is_map else _repeated([name.lower() for name in value])
        if twice:
            raise _twice(twice)
        for name, each in value.items():
            refuse_repeated_names(each, maps, is_map=not is_map and name in maps)
    elif isinstance(value, list):
        for each in value:
            refuse_repeated_names(each, maps, is_map=is_map)


_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {
    **{chr(code): f"\\u{code:04X}" for code in range(0x20)},
    **dict(zip('\b\t\n\f\r"\\', ("\\b", "\\t", "\\n", "\\f", "\\r", '\\"', "\\\\"))),
}


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)}"'


def dumps(value: Any) -> str:
    """Return the JSON text of a value, numbers by their digits, without blanks."""
    if value.__class__ is str:
        return _quoted(value)
    if isinstance(value, dict):
        inside = (f"{_quoted(name)}:{dumps(each)}" for name, each in value.items())
        return f"{{{','.join(inside)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(dumps, value))}]"
    return _word(value)


def _word(value: Any) -> str:
    """Return a number by its digits, and what is neither number nor text nor nested."""
    if value.__class__ is Number:
        if len(value) > _LONGEST_NUMBER:
            raise BadRecord(UNPARSED)
        return str(value)
    return _WORDS[value]


_WORDS = {None: "null", True: "true", False: "false"}


class Text:
    """A column of text: digits, words and nested values as the file has them."""

    nothing: Any = ""

    def value(self, found: Any) -> str:
        """Return the text of a value that is not null."""
        if found.__class__ is str:
            return found
        if isinstance(found, (dict, list)):
            refuse_repeated_names(found)
            return dumps(found)
        return _word(found)

    present = value
    """Of a field that is there: see `Struct.present`."""


class Array:
    """A column of arrays."""

    nothing: Any = []

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def value(self, found: Any) -> List[Any]:
        """Return the elements, each as its type says; raise BadRecord for another value."""
        if not isinstance(found, list):
            raise BadRecord(_NO_PLACE)
        read = self._inner.value
        return [None if each is None else read(each) for each in found]

    present = value


class Map:
    """A column of maps: objects whose names are values."""

    nothing: Any = {}

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def value(self, found: Any) -> Dict[str, Any]:
        """Return the entries, each as its type says; raise BadRecord for another value."""
        if not isinstance(found, dict):
            raise BadRecord(_NO_PLACE)
        read = self._inner.value
        return {k: None if each is None else read(each) for k, each in found.items()}

    present = value


class Struct:
    """A column of objects, or a record itself: fields by their names, exact in case."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = list(fields.items())
        self._readers = [(name, kind.value) for name, kind in self._fields]
        self._known = frozenset(fields)
        self._folded = frozenset(name.lower() for name in fields)
        self.nothing = tuple(kind.nothing for _, kind in self._fields)

    def value(self, found: Any) -> Tuple[Any, ...]:
        """Return the fields' values; raise BadRecord for what the type has no place for."""
        if not isinstance(found, dict):
            raise BadRecord(_NO_PLACE)
        if not found.keys() <= self._known:
            self._refuse_others(found)
        values, get = [], found.get
        for name, read in self._readers:
            each = get(name)
            values.append(None if each is None else read(each))
        return tuple(values)

    def _refuse_others(self, found: Dict[str, Any]) -> None:
        twice = _repeated([name.lower() for name in found])
        if twice:
            raise _twice(twice)
        for name in found.keys() - self._known:
            is_known = name.lower() in self._folded and found[name] is not None
            if is_known or (_has_content(found[name]) and sayable(name) == name):
                raise BadRecord(_NO_PLACE)

    def present(self, found: Any) -> Optional[Tuple[Any, ...]]:
        """Return the fields that are there: null is one that is not (absent_fields.py).

        A field with null has a value without content. None: no field is there.
        """
        values: List[Any] = []
        for name, kind in self._fields:
            each = found.get(name)
            if each is not None:
                values.append(kind.present(each))
            else:
                values.append(kind.nothing if name in found else None)
        return None if all(each is None for each in values) else tuple(values)


def _has_content(value: Any) -> bool:
    """Return whether there is any single value in it: else it gives a file no column."""
    if isinstance(value, (dict, list)):
        inside = value.values() if isinstance(value, dict) else value
        return any(map(_has_content, inside))
    return value is not None


class LineReader:
    """Reads a line's bytes: the values, the text if it is bad, why, and what is there.

    `of_messages` says that lines are of ours, with a message each; `tells_absent` that
    what is there is asked for.
    """

    def __init__(self, row: Struct, *, of_messages: bool, tells_absent: bool) -> None:
        self._row = row
        self._of_messages = of_messages
        self._tells_absent = tells_absent

    def __call__(self, line: bytes) -> Tuple[Any, ...]:
        """Return (values..., bad text, reason[, fields that are there])."""
        try:
            text = text_of(line)
        except UnicodeDecodeError:
            return self._bad(line.decode("utf-8", "replace"), _NO_TEXT)
        try:
            found = object_of(text)
            values = self._row.value(found)
            there = (self._row.present(found),) if self._tells_absent else ()
        except BadRecord as bad:
            return self._bad(text, str(bad))
        except RecursionError:
            return self._bad(text, UNPARSED)
        broken = found.get(BROKEN) if self._of_messages else None
        if broken.__class__ is not str:
            return (*values, None, None, *there)
        return (*values, broken, fault_of(broken), *there)

    def _bad(self, text: str, why: str) -> Tuple[Any, ...]:
        there = (None,) if self._tells_absent else ()
        return (*(None for _ in self._row.nothing), text, why, *there)


def fault_of(text: str) -> str:
    """Return why a text is no record."""
    try:
        refuse_repeated_names(object_of(text))
    except BadRecord as bad:
        return str(bad)
    except RecursionError:
        pass
    return UNPARSED


class CleanLines:
    """Tells whether a line is one object without a name twice, so it says its columns."""

    def __init__(self, maps: Sequence[str]) -> None:
        self._maps = tuple(maps)

    def __call__(self, line: bytes) -> bool:
        """Return whether the bytes of the line are such an object."""
        try:
            refuse_repeated_names(object_of(text_of(line)), self._maps)
        except (UnicodeDecodeError, BadRecord, RecursionError):
            return False
        return True
