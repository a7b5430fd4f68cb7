"""Kinds of columns: their types in both databases and in the lake, and random values."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any, Callable, Dict, List, Optional
from uuid import UUID

from psycopg.types.json import Jsonb

POSTGRESQL, MARIADB = "postgresql", "mariadb"
EPOCH = datetime(1970, 1, 1)
LONG = range(9_000, 14_000)
"""Lengths of values that PostgreSQL stores next to their row."""


@dataclass(frozen=True)
class Kind:
    """A kind of column; `types` by database, `lake` is the column in the table's spec."""

    types: Dict[str, str]
    lake: Dict[str, str]
    make: Callable[[Random], Any]
    is_long: bool = False


def comparable(value: Any) -> Any:
    """A value of a source's driver or of Spark, in the form that both have."""
    if isinstance(value, datetime):
        if value.tzinfo:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        return (value - EPOCH) // timedelta(microseconds=1)
    if isinstance(value, time):  # of day, as PostgreSQL's driver has it
        value = datetime.combine(EPOCH, value) - EPOCH
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, dict):  # as PostgreSQL writes what it parsed
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return tuple(comparable(each) for each in value)
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0  # -0.0 is 0.0
    return value


def as_undeclared(value: Any) -> Any:
    """A value in a column that the table's spec does not declare: JSON's own text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None else str(value)


def _both(text: str) -> Dict[str, str]:
    return {POSTGRESQL: text, MARIADB: text}


WORDS = ["", " ", "null", "NULL", "a'b", 'say "x"', "back\\slash", "tab\there"]
WORDS += ["line\nbreak", "Zoë", "日本", "🙂", "a|b", "a,b", "a:b", "%41", "{}", "[1]"]


def word(random: Random) -> str:
    """A short text, awkward at times."""
    if random.random() < 0.4:
        return random.choice(WORDS)
    return "".join(random.choices(string.ascii_letters, k=random.randint(1, 8)))


def _long(random: Random) -> str:
    if random.random() < 0.15:
        return word(random)
    return "".join(random.choices(string.printable[:94], k=random.choice(LONG)))


def _bytes(random: Random) -> bytes:
    return random.randbytes(random.choice([0, 1, 2, 3, 16]))


def _long_bytes(random: Random) -> bytes:
    return random.randbytes(random.choice(LONG))


def _long_tags(random: Random) -> List[str]:
    return [word(random), *(f"{random.getrandbits(200):x}" for _ in range(200))]


def _long_numbers(random: Random) -> List[int]:
    return [random.randrange(-(2**31), 2**31) for _ in range(2_500)]


def _long_ids(random: Random) -> List[UUID]:
    return [UUID(int=random.getrandbits(128)) for _ in range(600)]


def _long_json(random: Random) -> Jsonb:
    return Jsonb({f"k{n:04}": random.getrandbits(50) for n in range(600)})


def _bigint(random: Random) -> int:
    edges = [0, -1, 2**53 + 1, 2**63 - 1, -(2**63)]
    return random.choice(edges + [random.randrange(-(10**15), 10**15)])


def _amount(random: Random) -> Decimal:
    edges = ["0.00", "-0.01", "9999999999.99", "-9999999999.99", "1.50"]
    return random.choice([*map(Decimal, edges), _cents(random)])


def _cents(random: Random) -> Decimal:
    return Decimal(random.randrange(-(10**6), 10**6)) / 100


def _day(random: Random) -> date:
    edges = [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(2024, 2, 29)]
    return random.choice([*edges, date(2026, 1, 1) + timedelta(random.randrange(400))])


def _timestamp(random: Random) -> datetime:
    edges = [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1900, 1, 1)]
    edges += [datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30)]
    some = datetime(2026, 1, 1) + timedelta(microseconds=random.randrange(10**14))
    return random.choice([*edges, some, some])


def _instant(random: Random) -> datetime:
    """Within what a timestamp of MariaDB can be."""
    some = datetime(1971, 1, 1) + timedelta(microseconds=random.randrange(2 * 10**15))
    edges = [datetime(2024, 2, 29, 12), datetime(2037, 12, 31)]
    return random.choice([*edges, some, some]).replace(tzinfo=timezone.utc)


def _exact(random: Random) -> Decimal:
    edges = ["0.0000000001", "123456789012345678.1234567891", "9007199254740993.5"]
    digits = Decimal(random.randrange(-(10**27), 10**27)).scaleb(-10)
    return random.choice([*map(Decimal, edges), digits])


def _clock(random: Random) -> time:
    some = EPOCH + timedelta(microseconds=random.randrange(86_400_000_000))
    edges = [time(0), time(23, 59, 59, 999999)]
    return random.choice([*edges, some.time(), some.time()])


def _choice(random: Random) -> str:
    return random.choice(CHOICES)


CHOICES = ["a", "B", "c c", "longer than most"]


def _ratio(random: Random) -> float:
    edges = [0.0, -0.0, 0.1, 1.0, -1e300, 5e-300, 1 / 3, 2.0**53]
    return random.choice([*edges, random.uniform(-1000, 1000)])


def _int(random: Random) -> int:
    return random.choice([0, 1, -1, 2**31 - 1, -(2**31), random.randrange(1000)])


def _flag(random: Random) -> bool:
    return random.random() < 0.5


def _tags(random: Random) -> List[Optional[str]]:
    tags = [*WORDS, None]
    return [random.choice(tags) for _ in range(random.choice([0, 1, 1, 2, 3]))]


_TEXT = {POSTGRESQL: "text", MARIADB: "longtext"}
# Debezium 2.6 reads no BLOB of MariaDB in its snapshot: it sends null.
BLOB = "longblob"
_BYTES = {POSTGRESQL: "bytea", MARIADB: "varbinary(14000)"}
# MariaDB's boolean is this one. Debezium sends a column that ALTER TABLE adds as
# `boolean` as true and false, and all that are there when it starts as numbers.
_BOOLEAN = {POSTGRESQL: "boolean", MARIADB: "tinyint(1)"}
_TAGS = {POSTGRESQL: "text[]", MARIADB: "longtext"}
_CHOICE = {
    POSTGRESQL: "text",
    MARIADB: "enum(%s)" % ", ".join(f"'{each}'" for each in CHOICES),
}
_IN_BASE64 = _both("{type: binary, format: base64}")
_EXACT = {POSTGRESQL: "timestamp(6)", MARIADB: "datetime(6)"}
_IN_ZONE = {POSTGRESQL: "timestamptz(6)", MARIADB: "timestamp(6) NULL"}

UNSENT = ("long_tags", "long_numbers", "long_ids", "long_json")
"""Kinds whose placeholders have forms of their own; MariaDB has texts for them."""


def _long_kind(type_: str, lake: str, make: Callable[[Random], Any]) -> Kind:
    types = {POSTGRESQL: type_, MARIADB: "longtext"}
    return Kind(types, {POSTGRESQL: lake, MARIADB: "string"}, make, is_long=True)


KINDS: Dict[str, Kind] = {
    "int": Kind(_both("int"), _both("int"), _int),
    "bigint": Kind(_both("bigint"), _both("bigint"), _bigint),
    "code": Kind(_both("varchar(40)"), _both("string"), word),
    "text": Kind(_TEXT, _both("string"), word),
    "amount": Kind(_both("numeric(12,2)"), _both('"decimal(12,2)"'), _amount),
    # Types that a load by JDBC and events write in ways of their own.
    "exact": Kind(_both("numeric(38,10)"), _both('"decimal(38,10)"'), _exact),
    "clock": Kind(_both("time(6)"), _both("bigint"), _clock),
    "fixed": Kind(_both("char(12)"), _both("string"), word),
    "choice": Kind(_CHOICE, _both("string"), _choice),
    "flag": Kind(_BOOLEAN, {POSTGRESQL: "boolean", MARIADB: "int"}, _flag),
    "day": Kind(_both("date"), _both("{type: date, format: epoch_days}"), _day),
    "moment": Kind(
        _EXACT, _both("{type: timestamp, format: epoch_micros}"), _timestamp
    ),
    "instant": Kind(_IN_ZONE, _both("timestamp"), _instant),
    "ratio": Kind({POSTGRESQL: "float8", MARIADB: "double"}, _both("double"), _ratio),
    "bytes": Kind(_BYTES, _IN_BASE64, _bytes),
    "long": Kind(_TEXT, _both("string"), _long, is_long=True),
    # MariaDB has no arrays.
    "tags": Kind(_TAGS, {POSTGRESQL: "array<string>", MARIADB: "string"}, _tags),
    "long_bytes": Kind(_BYTES, _IN_BASE64, _long_bytes, is_long=True),
    "long_tags": _long_kind("text[]", "array<string>", _long_tags),
    "long_numbers": _long_kind("int[]", "array<int>", _long_numbers),
    "long_ids": _long_kind("uuid[]", "array<string>", _long_ids),
    "long_json": _long_kind("jsonb", "string", _long_json),
}
