"""The texts of an Avro file, which Avro's own library reads: Spark's jars have it."""

from __future__ import annotations

import json
from typing import Iterator

from pyspark.sql import SparkSession

from lake_spark import java
from lake_spark.erasure.text_match import strings


def avro_texts(spark: SparkSession, content: bytes) -> Iterator[str]:
    """Yield every text of header and records, of bytes too, as least and greatest values are.

    In the file itself a text has its length before it and other values behind it, which
    may be letters or digits as well: it would be no word.
    """
    avro = java.packages(spark).org.apache.avro
    source = avro.file.SeekableByteArrayInput(content)
    records = avro.file.DataFileReader(source, avro.generic.GenericDatumReader())
    for name in records.getMetaKeys():
        yield records.getMetaString(name)
    model = avro.generic.GenericData.get()
    while records.hasNext():
        for text in strings(json.loads(model.toString(records.next()))):
            yield text
            # Bytes are shown as one character for each.
            yield text.encode("latin-1", "replace").decode("utf-8", "replace")
