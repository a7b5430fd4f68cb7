"""Parquet files of any physical and logical type, written by Parquet's own library.

What each value is, is known before it is written. A column of a type that the lake cannot
hold exactly may refuse its file by name; a value may never become another.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Callable, Dict, List

from tests.fuzz.files import COLUMNS, NOTES, File
from tests.fuzz.judge import ANY, Record, Verdict


@dataclass(frozen=True)
class Type:
    """A type of Parquet: its words, a random value to write, and what the lake may show.

    `shown` gives the exact value in the lake's declared column; ANY where any exact form
    is right; None where no value of the column is. `plain`: every reader reads it, so it must
    be read.
    """

    words: str
    value: Callable[[Random], Any]
    shown: Callable[[Any], Any] = lambda value: value
    plain: bool = False

    def schema(self, name: str) -> str:
        """The column in the language of Parquet's schemas."""
        physical, _, logical = self.words.partition(" ")
        return f"optional {physical} {name} {logical};".replace(" ;", ";")


def _text(random: Random) -> bytes:
    return random.choice(NOTES).encode()


def _bytes(random: Random) -> bytes:
    return random.choice((b"plain", b"\xff\xfe", b"caf\xe9", b"", b"\xed\xa0\x80"))


def _utf8(value: bytes) -> Any:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _big_endian(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big", signed=True)


def _small(random: Random) -> int:
    return random.choice((0, 1, -1, 127, -128, 2**31 - 1, -(2**31)))


def _large(random: Random) -> int:
    return random.choice((0, -1, 2**53 + 1, 2**63 - 1, -(2**63)))


def _decimal_of(value: Any) -> Decimal:
    number = (
        int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
    )
    return Decimal(number).scaleb(-6)


NOTE_TYPES = (
    Type("binary (STRING)", _text, _utf8, plain=True),
    Type("binary (ENUM)", _text, _utf8),
    Type("binary (JSON)", _text, _utf8),
    Type("binary", _bytes, _utf8),
    Type("binary (BSON)", _bytes, lambda value: ANY),
    Type("int64", _large, str),
    Type("double", lambda r: r.choice((0.1, 1e300)), lambda value: ANY),
    Type(
        "fixed_len_byte_array(16) (UUID)",
        lambda r: bytes(r.randrange(256) for _ in range(16)),
        lambda v: "-".join(
            (v[:4].hex(), v[4:6].hex(), v[6:8].hex(), v[8:10].hex(), v[10:].hex())
        ),
    ),
    Type("fixed_len_byte_array(12) (INTERVAL)", lambda r: b"\1" * 12, lambda v: ANY),
    Type("int64 (TIME(MICROS,true))", lambda r: 3723000001, lambda v: ANY),
    Type("int32 (TIME(MILLIS,false))", lambda r: 3723001, lambda v: ANY),
    Type("int64 (TIMESTAMP(NANOS,true))", lambda r: 1, lambda v: ANY),
)
PRICE_TYPES = (
    Type(
        "int64 (DECIMAL(18,6))",
        lambda r: r.choice((0, 1, -1, 10**17)),
        _decimal_of,
        plain=True,
    ),
    Type(
        "fixed_len_byte_array(9) (DECIMAL(20,6))",
        lambda r: _big_endian(r.choice((0, -1, 10**20 - 1)), 9),
        _decimal_of,
        plain=True,
    ),
    Type(
        "binary (DECIMAL(20,6))",
        lambda r: _big_endian(r.choice((0, -1, 10**20 - 1)), 9),
        _decimal_of,
    ),
    Type("binary (DECIMAL(50,6))", lambda r: b"\1", lambda v: ANY),
    Type("int32", lambda r: r.choice((0, -7, 2**31 - 1)), Decimal),
    Type("double", lambda r: r.choice((0.5, 0.1)), lambda v: ANY),
    Type("binary (STRING)", lambda r: b"1.5", lambda v: Decimal("1.5")),
)
PIECES_TYPES = (
    Type("int32", _small, plain=True),
    Type("int32 (INTEGER(8,true))", lambda r: r.choice((0, 127, -128)), plain=True),
    Type("int32 (INTEGER(16,false))", lambda r: r.choice((0, 65535)), plain=True),
    Type("int32 (INTEGER(32,false))", lambda r: r.choice((0, 7)), plain=False),
    Type("int64", _large, lambda v: v if -(2**31) <= v < 2**31 else None),
    Type("int64 (INTEGER(64,false))", lambda r: r.choice((0, 7)), lambda v: v),
    Type("binary (STRING)", lambda r: b"7", lambda v: 7),
)
AT = datetime(2026, 1, 1)
AT_MICROS = 1767225600000000
EXTRA_NAMES = ("extra", "valid_from", "lake_key", "note2", "m", "source_valid_from")


def random_types(random: Random) -> Dict[str, Type]:
    """A type for each column but the key and the time, at times of one more."""
    types: Dict[str, Type] = {
        "note": random.choice(NOTE_TYPES),
        "price": random.choice(PRICE_TYPES),
        "pieces": random.choice(PIECES_TYPES),
    }
    if random.random() < 0.5:  # one odd column at a time says more
        kept = random.choice(list(types))
        plain = {"note": NOTE_TYPES, "price": PRICE_TYPES, "pieces": PIECES_TYPES}
        types = {n: t if n == kept else plain[n][0] for n, t in types.items()}
    extra = random.choice(EXTRA_NAMES) if random.random() < 0.3 else ""
    if extra:
        types[extra] = random.choice(NOTE_TYPES + PRICE_TYPES + PIECES_TYPES)
    return types


def random_file(spark: Any, random: Random, first: int, types: Dict[str, Type]) -> File:
    """A random file of these types, with its verdict: rows of keys first, first + 1, ..."""
    count = random.choice((0, 1, 2, 5))
    rows = [
        {
            n: None if random.random() < 0.1 else t.value(random)
            for n, t in types.items()
        }
        for _ in range(count)
    ]
    content = written(spark, types, rows, first)
    records = tuple(
        _record(first + number, row, types) for number, row in enumerate(rows)
    )
    made = ", ".join(f"{name} is {each.words}" for name, each in types.items())
    odd = [each.words for each in types.values() if not each.plain]
    verdict = Verdict(records, "", f"types {odd}" if odd else "")
    return _changed(random, File(".parquet", content, made), verdict)


def _record(key: int, row: Dict[str, Any], types: Dict[str, Type]) -> Record:
    def shown(name: str) -> Any:
        value = row[name]
        return None if value is None else types[name].shown(value)

    values = {"id": key, "at": AT}
    either = False
    for name in ("note", "price", "pieces"):
        values[name] = shown(name)
        if values[name] is None and row[name] is not None:
            return Record(None, reason=f"{name} cannot be held")
        either = either or values[name] is ANY or not types[name].plain
    return Record(tuple(values.get(name) for name in COLUMNS), either)


def _changed(random: Random, file: File, verdict: Verdict) -> File:
    way = random.choice(("", "", "", "cut", "head", "other"))
    content = file.content
    if way == "cut":
        content = content[: random.randrange(1, len(content))]
    elif way == "head":
        content = b"XXXX" + content[4:-4] + b"XXXX"
    elif way == "other":
        content = random.choice((b"id,note\n1,a\n", b"PAR1", b"PAR1PAR1", b"{}"))
    if way:
        verdict = Verdict(must_refuse=f"no parquet file: {way}")
    return File(file.ending, content, f"{file.made} {way}".strip(), verdict)


def written(
    spark: Any, types: Dict[str, Type], rows: List[Dict[str, Any]], first: int
) -> bytes:
    """The bytes of a Parquet file of these rows."""
    jvm = spark._jvm
    parquet = jvm.org.apache.parquet
    fields = " ".join(each.schema(name) for name, each in types.items())
    schema = parquet.schema.MessageTypeParser.parseMessageType(
        "message m { required int64 id; required int64 at (TIMESTAMP(MICROS,true)); "
        + fields
        + " }"
    )
    kinds = {"id": "int64", "at": "int64"}
    kinds.update({name: each.words.split(" ")[0] for name, each in types.items()})
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/a.parquet"
        path = jvm.org.apache.hadoop.fs.Path(f"file://{target}")
        writer = parquet.hadoop.example.ExampleParquetWriter.builder(path)
        writer = writer.withType(schema).build()
        factory = parquet.example.data.simple.SimpleGroupFactory(schema)
        for number, row in enumerate(rows):
            group = factory.newGroup()
            for name, value in {"id": first + number, "at": AT_MICROS, **row}.items():
                if value is not None:
                    _add(spark, group, name, kinds[name], value)
            writer.write(group)
        writer.close()
        return Path(target).read_bytes()


def _add(spark: Any, group: Any, name: str, physical: str, value: Any) -> None:
    """Call the overload of the column's type, which py4j would choose by the value."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    if isinstance(value, bytes):
        binary = jvm.org.apache.parquet.io.api.Binary
        group.add(name, binary.fromConstantByteArray(bytearray(value)))
        return
    boxes = {"int32": "Integer", "int64": "Long", "double": "Double"}
    box = getattr(jvm.java.lang, boxes[physical])
    parameters = gateway.new_array(jvm.java.lang.Class, 2)
    parameters[0] = jvm.java.lang.Class.forName("java.lang.String")
    parameters[1] = box.TYPE
    arguments = gateway.new_array(jvm.java.lang.Object, 2)
    arguments[0], arguments[1] = name, value
    group.getClass().getMethod("add", parameters).invoke(group, arguments)
