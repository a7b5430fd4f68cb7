"""The Spark session of a step."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Mapping, Optional

from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from lake_spec.platform.parallelism import CLUSTER_CORES, SHUFFLE_PARTITIONS_PER_CORE
from lake_spark import java

NOT_OF_A_FILE = (java.Py4JNetworkError, ConnectionError, PythonException)
"""Errors that are no fault of the file that is read: those of every call once Java has
ended, as for want of memory, and those of our functions on the executors, which answer for
any record, so that they fail only by themselves or for want of something there."""

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"

CONFIGURATION = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    # A name in a spec's SQL is never that of a file, and no setting is put into it.
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    # Timestamps are instants; what has no zone is read as UTC.
    "spark.sql.session.timeZone": "UTC",
    # A row with too many or too few fields must be seen as one.
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    # A text that Spark 2 took for a time by its format is no time: else it ends the stage.
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    # The proleptic calendar throughout, also before 1582.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    # Where a page has a checksum, its bytes are held to it.
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    # The old form of lists cannot hold a null.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
    # What a stage keeps is read once or twice more. Looking for the best way to pack each
    # column was what thread dumps of a full load showed most (docs/speed.md).
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Compiled queries that are kept. A stage of a large table has 50, so that the 100 of
    # Spark's default are those of two tables (docs/speed.md).
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Tables of one application share the cores.
    "spark.scheduler.mode": "FAIR",
    # What the driver remembers of past queries, with their plans, for its pages.
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
}
"""What the jobs rely on, whatever the cluster's defaults say."""

FOR_FEW_ROWS = {
    # Compiling a query, and planning it again at each shuffle, takes longer than
    # running it on some thousand rows (docs/speed.md).
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    SHUFFLE_PARTITIONS: "2",
}
"""What differs in a session for queries of few rows."""


FEW_ROWS, FEW_BYTES = 50_000, 16 * 1024 * 1024
"""No more are few: of what is counted its rows, of other files their bytes.

A table of few rows is also read, where a larger one is folded (previous_rows.py): a second
fold takes longer to plan than such a table takes to be read. And few events of a snapshot
are written by one task. docs/speed.md has the figures.
"""

_ON_ONE_MACHINE = re.compile(r"local(\[|$)")
"""Masters whose cores are all there from the start."""

_ZSTD_CODEC = "io.airlift.compress.zstd.ZstdCodec"
"""Part of Spark 3.5, in plain Java; Hadoop's own needs a native library."""


def session_for(spark: SparkSession, *, rows: int = 0, size: int = 0) -> SparkSession:
    """Return the session for queries of few rows where they are, else the one given.

    `rows` or `size`, in bytes, of what is read.
    """
    is_few = rows <= FEW_ROWS and size <= FEW_BYTES
    return session_for_few_rows(spark) if is_few else spark


@lru_cache(maxsize=1)
def session_for_few_rows(spark: SparkSession) -> SparkSession:
    """Return another session of the same application, the same one each time."""
    few = _without_extensions(spark)
    ours = {key: setting(spark, key) for key in CONFIGURATION}
    for key, value in {**ours, **FOR_FEW_ROWS}.items():
        if few.conf.isModifiable(key):
            few.conf.set(key, value)
    return few


def setting(spark: SparkSession, name: str, default: Optional[str] = None) -> str:
    """Return the value of a setting that is set, or that Spark has a default for.

    Raises Py4JJavaError for another one, where no default is given.
    """
    value = spark.conf.get(name) if default is None else spark.conf.get(name, default)
    assert value is not None, name
    return value


def session_for_statements() -> SparkSession:
    """Return the session of this process that knows Hudi's own SQL statements, as `CALL`."""
    return SparkSession.builder.getOrCreate()


def _without_extensions(spark: SparkSession) -> SparkSession:
    """Return another session of the application, without Hudi's rules for its SQL statements.

    They go through the whole plan at each step of a query that has no such statement: a
    sixth of `scd2` of few keys (docs/speed.md). Spark takes them from the application's
    settings, so the session is made as Spark itself makes it; where its constructor is
    another one, the session has them.
    """
    ours = java.session(spark)
    try:
        jvm = java.packages(spark)
        made = jvm.org.apache.spark.sql.SparkSession(
            ours.sparkContext(),
            jvm.scala.Option.apply(ours.sharedState()),
            jvm.scala.Option.empty(),
            jvm.org.apache.spark.sql.SparkSessionExtensions(),
            jvm.PythonUtils.toScalaMap(jvm.java.util.HashMap()),
        )
    except java.Py4JError:
        return spark.newSession()
    return type(spark)(spark.sparkContext, made)


def open_session(name: str, more: Optional[Mapping[str, str]] = None) -> SparkSession:
    """Return a session for queries, of the application that is made if there is none.

    `more` outranks what is ours. Hudi's statements have a session of their own
    (`session_for_statements`).
    """
    builder = SparkSession.builder.appName(name)
    for key, value in {**CONFIGURATION, **(more or {})}.items():
        builder = builder.config(key, value)
    session = _without_extensions(builder.getOrCreate())
    _remember_java_names(java.packages(session))
    _remember_limit_of_compiled_queries(java.packages(session))
    set_shuffle_partitions(session)
    _read_zstd(session)
    return session


def _remember_limit_of_compiled_queries(jvm: Any) -> None:
    """Let Spark read how many compiled queries it keeps, while our settings are known.

    It reads that once, as the first one is compiled: where a thread without a session
    does that, it finds no setting, and keeps a hundred.
    """
    package = "org.apache.spark.sql.catalyst.expressions.codegen"
    jvm.java.lang.Class.forName(f"{package}.CodeGenerator$")


def set_shuffle_partitions(session: SparkSession) -> None:
    """Set the number of shuffle partitions, unless the cluster's file does.

    On YARN the executors register later: until then Spark counts two cores, whatever the
    cluster has.
    """
    context = session.sparkContext
    settings = context.getConf()
    if settings.contains(SHUFFLE_PARTITIONS):
        return
    partitions = max(2, context.defaultParallelism)
    if not _ON_ONE_MACHINE.match(str(context.master)):
        cores = int(settings.get(CLUSTER_CORES, "0"))
        partitions = max(partitions, SHUFFLE_PARTITIONS_PER_CORE * cores)
    session.conf.set(SHUFFLE_PARTITIONS, str(partitions))


def _read_zstd(spark: SparkSession) -> None:
    """Let Spark read text files named .zst, whether Hadoop can by itself or not."""
    try:
        java.packages(spark).java.lang.Class.forName(_ZSTD_CODEC)
    except java.Py4JJavaError:
        return  # then Hadoop's own is asked
    settings = java.hadoop_configuration(spark)
    settings.set("io.compression.codecs", _ZSTD_CODEC)


LOOKED_UP_ONCE = (
    "functions",
    "PythonUtils",
    "py4j.reflection.TypeUtil",
    "org.apache.hadoop.fs.FileSystem",
    "org.apache.hadoop.fs.Path",
    "org.apache.hudi.common.table.HoodieTableMetaClient",
    "org.apache.hudi.common.table.timeline.TimelineUtils",
    "org.apache.hudi.storage.hadoop.HadoopStorageConfiguration",
    "org.apache.spark.sql.expressions.Window",
    "org.apache.spark.storage.StorageLevel",
    "org.apache.spark.util.Utils",
)
"""What PySpark and the stages use for each table, as counted in a run of small tables."""


def _remember_java_names(jvm: Any) -> None:
    """Look names of Java up in py4j's view of the JVM, and keep them there.

    Each use of `functions.col` asks the JVM what `functions` is, and it looks through all
    jars before it says so: a tenth of what a table of few rows took (docs/speed.md). What
    py4j found is set as an attribute of where it was found, so it is not asked for again.
    """
    for name in LOOKED_UP_ONCE:
        place = jvm
        for part in name.split("."):
            found = getattr(place, part)
            setattr(place, part, found)
            place = found
