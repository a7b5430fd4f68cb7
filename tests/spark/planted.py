"""Files whose own metadata names a class: who makes an object of it leaves a marker.

A marker is a file or folder that the payload creates. Python's payload is unpickled by
PySpark's `UserDefinedType.fromJson`; Java's is a class of the JDK whose constructor
without arguments opens a file, as Spark's `DataType.fromJson` would call it.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
from pathlib import Path
from typing import Any, Dict

from pyspark.sql import SparkSession

ROW_METADATA = "org.apache.spark.sql.parquet.row.metadata"
CONSTRUCTED = "java.util.logging.FileHandler"
"""A class that opens a file when an object of it is made without arguments."""


class _Payload:
    def __init__(self, marker: Path) -> None:
        self._marker = str(marker)

    def __reduce__(self) -> tuple:
        return os.mkdir, (self._marker,)


def pickled(marker: Path) -> bytes:
    """A pickle that makes the marker when it is read."""
    return pickle.dumps(_Payload(marker))


def python_type(marker: Path) -> Dict[str, Any]:
    """A type of Spark's JSON that PySpark unpickles."""
    return {
        "type": "udt",
        "pyClass": "builtins.NoSuchType",
        "serializedClass": base64.b64encode(pickled(marker)).decode(),
        "sqlType": "string",
    }


def java_type(spark: SparkSession, marker: Path) -> Dict[str, Any]:
    """A type of Spark's JSON whose class Java makes an object of."""
    aim_java(spark, marker)
    return {"type": "udt", "class": CONSTRUCTED, "pyClass": None, "sqlType": "string"}


def aim_java(spark: SparkSession, marker: Path) -> None:
    """Let an object of `CONSTRUCTED` make this marker."""
    text = f"{CONSTRUCTED}.pattern={marker}\n"
    jvm = spark._jvm.java
    stream = jvm.io.ByteArrayInputStream(bytearray(text.encode()))
    jvm.util.logging.LogManager.getLogManager().readConfiguration(stream)


def schema_with(column: str, kind: Any, *others: str) -> str:
    """Spark's JSON of a schema: this column of this type, then bigint columns."""
    columns = [(column, kind), *((name, "long") for name in others)]
    fields = [
        {"name": name, "type": each, "nullable": True, "metadata": {}}
        for name, each in columns
    ]
    return json.dumps({"type": "struct", "fields": fields})


def with_metadata(spark: SparkSession, content: bytes, values: Dict[str, str]) -> bytes:
    """A Parquet file with these entries in place of those of its footer."""
    length = int.from_bytes(content[-8:-4], "little")
    begin = len(content) - 8 - length
    jvm = spark._jvm
    form = jvm.org.apache.parquet.format
    stream = jvm.java.io.ByteArrayInputStream(bytearray(content[begin:-8]))
    footer = form.Util.readFileMetaData(stream)
    entries = jvm.java.util.ArrayList()
    for name, value in values.items():
        entry = form.KeyValue(name)
        entry.setValue(value)
        entries.add(entry)
    footer.setKey_value_metadata(entries)
    made = jvm.java.io.ByteArrayOutputStream()
    form.Util.writeFileMetaData(footer, made)
    end = bytes(made.toByteArray())
    return content[:begin] + end + len(end).to_bytes(4, "little") + content[-4:]
