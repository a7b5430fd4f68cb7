"""Jars of an EMR node that are on no class path until a step names them."""

from __future__ import annotations

from typing import Iterable, List, Sequence, Tuple

from lake_spec.model import Avro, FileTable, ReadableAs, TableSpec
from lake_spec.platform.aws_releases import EMR_RELEASES

# A step does not know which release it runs on; all that are taken have the same places.
(_HUDI_JARS,) = {each.hudi_jars for each in EMR_RELEASES.values()}
(AVRO,) = {each.avro_jar for each in EMR_RELEASES.values()}
"""Spark's reader of Avro files."""

HUDI = f"{_HUDI_JARS}/hudi-spark-bundle.jar"
"""Each cluster has it in `spark.jars`."""

UTILITIES = f"{_HUDI_JARS}/hudi-utilities-bundle.jar"
"""HoodieStreamer's program."""

(ICEBERG,) = {each.iceberg_jar for each in EMR_RELEASES.values()}
"""Iceberg's own library, which writes the metadata of tables that are read as Iceberg."""


def step_jars(
    of_tables: Sequence[str], of_environment: Sequence[str] = ()
) -> List[str]:
    """Return the arguments after `--jars`: the tables' jars, then the environment's.

    The argument replaces `spark.jars`, so the jars there come first.
    """
    others = [each for each in (*of_tables, *of_environment) if each != HUDI]
    return [HUDI, *others] if others else []


def jars_of(tables: Iterable[TableSpec]) -> Tuple[str, ...]:
    """List the jars that steps of these tables need besides those of every step."""
    tables = list(tables)
    landed = [table.source for table in tables if isinstance(table, FileTable)]
    has_avro = any(isinstance(source.format, Avro) for source in landed)
    has_iceberg = any(ReadableAs.ICEBERG in t.storage.formats for t in tables)
    return (*((AVRO,) if has_avro else ()), *((ICEBERG,) if has_iceberg else ()))
