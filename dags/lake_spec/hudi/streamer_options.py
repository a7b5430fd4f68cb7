"""The command line of HoodieStreamer: one append to a change log, exactly once.

The rows come from a SQL file, the id of its inputs is the checkpoint. Hudi
stores the checkpoint in the commit that holds the rows, so both are there or
neither. docs/streamer.md says what was measured.
"""

from __future__ import annotations

import re
from typing import Dict, List

from lake_spec.hudi.options import HudiKey, log_options
from lake_spec.platform.jars import UTILITIES

_CLASS = "org.apache.hudi.utilities.streamer.HoodieStreamer"
_SOURCE = "org.apache.hudi.utilities.sources.SqlFileBasedSource"
_CHECKPOINT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,127}")

_JAVA = "-Duser.timezone=UTC -Dfile.encoding=UTF-8"
_SPARK = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.sql.session.timeZone": "UTC",
    # A name in the SQL file is never that of a file, and no setting is put into it.
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    # Hudi 0.14 stamps instants in the zone of the JVM; the SQL file is read in
    # the JVM's character set.
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
    # Dates before 1582 and timestamps before 1900 are taken as they are.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    # The old list structure cannot hold a null element: the write fails.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
}

_SAID_BY_ARGUMENTS = frozenset({HudiKey.TABLE_NAME.value, HudiKey.TABLE_TYPE.value})
_ARCHIVING = frozenset({HudiKey.ARCHIVE_MIN.value, HudiKey.ARCHIVE_MAX.value})


def streamer_argv(
    *,
    sql_file: str,
    checkpoint: str,
    base_path: str,
    table_name: str,
) -> List[str]:
    """Return the arguments after `spark-submit` to append the rows of `sql_file`.

    `checkpoint` is the id of the inputs: letters, digits, `_`, `.` and `-`. An id
    that any commit of the table carries must not be given again.
    """
    _check("checkpoint", checkpoint, _CHECKPOINT)
    _check("table_name", table_name, _TABLE_NAME)
    return [
        *("--class", _CLASS, "--deploy-mode", "client"),
        *_each("--conf", _SPARK),
        UTILITIES,
        *("--source-class", _SOURCE),
        *("--target-base-path", base_path),
        *("--target-table", table_name),
        *("--table-type", "COPY_ON_WRITE"),
        *("--op", "BULK_INSERT"),
        # Else the table would be said to be ordered by a column `ts`.
        *("--source-ordering-field", "lake_record"),
        *("--checkpoint", checkpoint),
        # The source names no checkpoint of its own; without this no commit is made.
        "--allow-commit-on-no-checkpoint-change",
        *_each("--hoodie-conf", streamer_options(table_name, sql_file=sql_file)),
    ]


def streamer_options(table_name: str, *, sql_file: str) -> Dict[str, str]:
    """Return the change log's options in the streamer's format."""
    shared = log_options(table_name, keep_commits=0, pinned=True)
    left_out = _SAID_BY_ARGUMENTS | _ARCHIVING
    return {
        **{key: value for key, value in shared.items() if key not in left_out},
        # Archiving is maintenance: it belongs to the maintenance stage.
        HudiKey.ARCHIVE_AUTOMATIC.value: "false",
        HudiKey.STREAMER_SQL_FILE.value: sql_file,
    }


def _each(argument: str, settings: Dict[str, str]) -> List[str]:
    pairs = ((argument, f"{key}={value}") for key, value in settings.items())
    return [word for pair in pairs for word in pair]


def _check(name: str, value: str, allowed: re.Pattern[str]) -> None:
    if not allowed.fullmatch(value):
        raise ValueError(f"{name}: got {value!r}. It must match {allowed.pattern}.")
