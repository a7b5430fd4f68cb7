"""What of Java's side PySpark has no name for, by file: why, and what follows if it differs.

PySpark is public API; what is reached by its private members is not. EMR builds Spark and
Hudi itself, so each file here says what happens where a class or method is another one
there. All were seen in Spark 3.5.6 and Hudi 1.0.2, which EMR 7.11 to 7.13 are made of;
the acceptance run (docs/acceptance.md) plays a whole run on an account's own release.
"""

from __future__ import annotations

from typing import Dict

STOPS = "the step ends with Java's error before anything is written"
PUBLIC = "public API of Java or Hadoop, the same in each build"

WHY: Dict[str, str] = {
    "erasure/avro_texts.py": f"Avro's own reader of files: {PUBLIC}",
    "erasure/scan.py": "the class of Java's errors: a file that Avro's reader cannot read "
    "may have what is to be erased, and is named",
    "formats/compression.py": f"Java's streams, and zstd-jni of Spark: {PUBLIC}",
    "formats/parquet.py": "Parquet's schemas, and Spark's converter of them: a file that it "
    "does not know is set aside by name",
    "formats/self_described.py": "JSON's columns from lines that were filtered, which "
    f"PySpark takes from Python alone: {STOPS}",
    "product/units.py": "the plan as text: with steps of other names a product's keys are "
    "counted, which was spared",
    "publish/iceberg.py": "Iceberg's public API; a publication that fails is a warning",
    "reading/reader.py": f"Hadoop's Path: {PUBLIC}",
    "sources/database.py": f"JDBC and Java's loader of classes: {PUBLIC}",
    "sources/kafka_admin.py": f"Kafka's client, which the connector brings: {PUBLIC}",
    "step/probe.py": "asks for classes and executors; a question without an answer is a "
    "fact of the acceptance run",
    "storage/bucket_writer.py": "Hudi's writer of rows in buckets: where it is another one "
    "Hudi's own write is used, with the warning SlowerShuffle",
    "storage/hudi_table.py": f"Hudi's client and Hadoop's file system: {STOPS}",
    "storage/parquet_file.py": f"Parquet's footers: {STOPS}",
    "storage/parquet_table.py": f"counts the files that Spark found: {STOPS}",
    "storage/session.py": "sessions without Hudi's rules, names of classes known at once: "
    "without them queries are slower",
    "storage/spec_sql.py": "Spark's own parser, by which SQL of specs is judged: SQL that it "
    "cannot judge is refused",
    "storage/timeline.py": f"Hudi's timeline: {STOPS}",
    "tables/foreign_files.py": f"Hadoop's file system: {PUBLIC}",
}
"""Module of lake_spark -> what it is for, and what follows."""
