"""Landing files whose metadata names a class, and files below a table's folder that do.

No object of such a class is made, whoever reads the file: a marker would show it. A
landing file is set aside by name; where it is not seen as one, it is read by its footer
and gives the rows that any other file gives.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F

from lake_spark.erasure.avro_texts import avro_texts
from lake_spark.formats import parquet
from lake_spark.storage.parquet_file import by_footer, schema_of
from tests.spark.erasing import CANARY, erased
from tests.spark.lake import LOAD_AND_CHANGES, Lake, table
from tests.spark.planted import (
    CONSTRUCTED,
    ROW_METADATA,
    java_type,
    pickled,
    python_type,
    schema_with,
    with_metadata,
)
from tests.spark.typed_files import typed_file

SPEC = LOAD_AND_CHANGES + """  format: {{type: {form}}}
columns: {{id: bigint, ts: timestamp, note: string}}
key: [id]
order_by: [ts]
effective_at: ts
storage: {{buckets: 1}}
"""
ROWS = f"""id, timestamp'2026-01-01 00:00:00' AS ts, note
  FROM VALUES (1L, 'a'), (7L, '{CANARY}') AS rows(id, note)"""


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def lake_of(spark, tmp_path):
    def make(form: str) -> Lake:
        return Lake(spark, tmp_path / "lake", table(SPEC.format(form=form)))

    return make


def planted(spark, content: bytes, form: str, marker: Path) -> bytes:
    """The file with metadata that names a class in one way."""
    kind = python_type(marker) if form == "python" else java_type(spark, marker)
    if form == "inside":
        kind = {"type": "array", "elementType": kind, "containsNull": True}
    if form == "arrow":
        schema = b"arrow.py_extension_type" + pickled(marker)
        return with_metadata(
            spark, content, {"ARROW:schema": b64encode(schema).decode()}
        )
    key = ROW_METADATA
    if form == "older":
        key = "org.apache.spark.sql.parquet.row.attributes"
    return with_metadata(spark, content, {key: schema_with("note", kind, "id")})


def test_the_payloads_work(spark, tmp_path, marker, lake_of):
    """Reading with Spark's inference makes both markers: the tests could fail."""
    content = typed_file(lake_of("parquet"), "parquet", ROWS)
    for form in ("python", "java"):
        made = tmp_path / f"{form}.parquet"
        made.write_bytes(planted(spark, content, form, marker / form))
        marker.mkdir(exist_ok=True)
        try:
            _ = spark.read.parquet(f"file://{made}").schema
        except Exception:  # what was made is no type
            pass
    assert {"java", "python"} <= {each.name for each in marker.iterdir()}


@pytest.mark.parametrize(
    "form, words",
    [
        ("python", "column note: the Python class builtins.NoSuchType"),
        ("java", f"column note: the Java class {CONSTRUCTED}"),
        ("inside", f"column note: the Java class {CONSTRUCTED}"),
        ("older", f"column note: the Java class {CONSTRUCTED}"),
        ("arrow", "ARROW:schema: a pickled type of Python"),
    ],
)
def test_a_file_that_names_a_class_is_set_aside(spark, marker, lake_of, form, words):
    lake = lake_of("parquet")
    content = typed_file(lake, "parquet", ROWS)
    lake.land("load/1.parquet", content)
    lake.done("full_load")
    lake.land("changes/1.parquet", planted(spark, content, form, marker))
    report = lake.run("incremental")
    assert not marker.exists()
    (aside,) = report.set_aside
    assert (aside["type"], aside["path"]) == ("ClassInFile", "changes/1.parquet")
    assert words in aside["reason"] and "Write the column as" in aside["reason"]
    lake.land("changes/1.parquet", content)
    assert lake.done("incremental")[0].set_aside == []


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["python", "java"])
def test_a_file_that_is_not_seen_to_name_one_is_read_by_its_footer(
    spark, marker, lake_of, form, monkeypatch
):
    monkeypatch.setattr(parquet, "named_class", lambda entries: None)
    lake = lake_of("parquet")
    content = typed_file(lake, "parquet", ROWS)
    lake.land("load/1.parquet", planted(spark, content, form, marker))
    lake.done("full_load", "scd2")
    assert lake.living("note") == [(1, "a"), (7, CANARY)]
    erased(lake, {"id": "7"})
    assert files_with_none(lake)
    assert lake.living("note") == [(1, "a")]
    assert not marker.exists()


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["python", "java"])
def test_files_below_a_table_are_read_by_their_footers(spark, marker, lake_of, form):
    """A proof of an erase reads all of them, whoever wrote them."""
    lake = lake_of("parquet")
    content = typed_file(lake, "parquet", f"{ROWS} WHERE id = 1")
    lake.land("load/1.parquet", content)
    lake.done("full_load", "scd2")
    home = lake.root / "warehouse/tests/things"
    for file in (home / "current").glob("*.parquet"):  # one that Hudi itself reads
        file.write_bytes(planted(spark, file.read_bytes(), form, marker))
        (home / f"current/.{file.name}.crc").unlink(missing_ok=True)
    foreign = planted(spark, content, form, marker)
    names = (
        "quarantine/a_1-2-3_20260101000000000",
        "other/b",
        "current/.hoodie/timeline/history/c",
    )
    for name in (*names, "current/_delta_log/00000000000000000001.checkpoint"):
        file = home / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(foreign)
    assert lake.living("note") == [(1, "a")]
    erased(lake, {"id": "9"})
    assert not marker.exists()


def avro_file(spark, marker: Path) -> bytes:
    """An Avro file with rows whose texts and keys Avro's reader of classes would make."""
    jvm, named = spark._jvm, "java.io.FileOutputStream"
    text = {"type": "string", "java-class": named}
    values = {"type": "map", "values": "int", "java-key-class": named}
    listed = {"type": "array", "items": "string", "java-element-class": named}
    at = {"type": "long", "logicalType": "timestamp-micros"}
    kinds = {"id": "long", "ts": at, "note": text, "map": values, "list": listed}
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    avro = jvm.org.apache.avro
    schema = avro.Schema.Parser().parse(
        json.dumps({"type": "record", "name": "row", "fields": fields})
    )
    made = jvm.java.io.ByteArrayOutputStream()
    writer = avro.file.DataFileWriter(avro.generic.GenericDatumWriter(schema))
    opened = writer.create(schema, made)
    keyed, items = jvm.java.util.HashMap(), jvm.java.util.ArrayList()
    keyed.put(str(marker), 1)
    items.add(str(marker))
    record = avro.generic.GenericData.Record(schema)
    row = {"id": 1, "ts": 0, "note": str(marker), "map": keyed, "list": items}
    for name, value in row.items():
        record.put(name, value)
    opened.append(record)
    opened.close()
    return bytes(made.toByteArray())


def test_the_payload_of_avro_works(spark, marker):
    avro = spark._jvm.org.apache.avro
    source = avro.file.SeekableByteArrayInput(avro_file(spark, marker))
    reader = avro.specific.SpecificDatumReader()
    try:
        avro.file.DataFileReader(source, reader).next()
    except Py4JJavaError:  # what was made is no text
        pass
    assert marker.exists()


def test_avro_files_are_read_as_plain_values(spark, marker, lake_of):
    lake = lake_of("avro")
    content = avro_file(spark, marker)
    lake.land("load/1.avro", content)
    lake.done("full_load", "scd2")
    assert lake.living("note", "list", "map") == [
        (1, str(marker), [str(marker)], {str(marker): 1})
    ]
    assert str(marker) in set(avro_texts(spark, content))
    erased(lake, {"id": "1"})
    assert not marker.exists()


@pytest.mark.parametrize("form", ["python", "java"])
def test_types_that_spark_notes_in_avro_and_orc_name_no_class(
    spark, tmp_path, marker, lake_of, form
):
    kind = python_type(marker) if form == "python" else java_type(spark, marker)
    orc = spark._jvm.org.apache.orc
    schema = orc.TypeDescription.fromString("struct<id:bigint,ts:string,note:string>")
    note = schema.getChildren().get(2)
    note.setAttribute("spark.sql.catalyst.type", json.dumps(kind))
    conf = spark._jsc.hadoopConfiguration()
    path = spark._jvm.org.apache.hadoop.fs.Path(f"file://{tmp_path}/1.orc")
    orc.OrcFile.createWriter(
        path, orc.OrcFile.writerOptions(conf).setSchema(schema)
    ).close()
    lake = lake_of("orc")
    lake.land("load/1.orc", (tmp_path / "1.orc").read_bytes())
    report = lake.run("full_load")
    assert [each["type"] for each in report.set_aside] == ["UnreadableFile"]
    assert not marker.exists()


HONEST = """CAST(1 AS tinyint) AS a, CAST(1 AS smallint) AS b, 1 AS c, 1L AS d,
  CAST(1 AS float) AS e, 1D AS f, true AS g, 'x' AS h, binary('x') AS i,
  CAST(1 AS decimal(9,2)) AS j, CAST(1 AS decimal(18,0)) AS k, CAST(1 AS decimal(38,9)) AS l,
  date'1500-02-28' AS m, timestamp'1500-02-28 01:02:03' AS n,
  timestamp_ntz'1500-02-28 01:02:03' AS o, CAST('x' AS char(3)) AS p,
  CAST('x' AS varchar(3)) AS q, array(1, null) AS r, array(array('x')) AS s,
  map('k', array(1L)) AS t, named_struct('A', 1, 'b', array(named_struct('c', 'x'))) AS u,
  interval '1' day AS x, interval '1:2' hour to minute AS y, interval '3' month AS z,
  map('k', array(named_struct('i', interval '1-2' year to month))) AS z2,
  array(named_struct('element', 1)) AS v, map('k', map('l', date'2026-01-01')) AS w"""


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"spark.sql.parquet.writeLegacyFormat": "true"},
        {"spark.sql.parquet.outputTimestampType": "INT96"},
        {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    ],
    ids=["as it is", "legacy", "int96", "millis"],
)
def test_a_footer_has_the_types_and_values_that_spark_noted(spark, tmp_path, settings):
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        rows = spark.sql(f"SELECT {HONEST}").coalesce(1)
        rows.write.parquet(f"file://{tmp_path}/made")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    (part,) = (tmp_path / "made").glob("part-*")
    uri = f"file://{part}"
    noted = spark.read.parquet(uri)
    assert schema_of(spark, uri).simpleString() == noted.schema.simpleString()
    assert by_footer(spark, uri).parquet(uri).collect() == noted.collect()


def files_with_none(lake: Lake) -> bool:
    """Whether no landing file has the erased row; read by a schema of ours."""
    (file,) = (lake.root / "landing").rglob("*.parquet")
    rows = lake.spark.read.schema("note string").parquet(f"file://{file}")
    return rows.where(F.col("note") == CANARY).isEmpty()
