"""The change log's table: shown with one column per column, whatever is stored."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence

from pyspark.sql import DataFrame, SparkSession

from lake_spec.hudi.options import Operation
from lake_spec.model.column_type import ColumnType
from lake_spark.changelog.column_versions import (
    shown_columns,
    shown_expressions,
    written_columns,
)
from lake_spark.schema.spark_types import Typed, typed_names
from lake_spark.storage.hudi_table import HudiTable


class ChangeLog(HudiTable):
    """A Hudi table none of whose columns ever changes its type."""

    _known: Optional[List[Typed]] = None

    def read(self, by: Optional[SparkSession] = None) -> DataFrame:
        """Return the newest committed rows, every column in its widest type."""
        rows = self.read_stored(by)
        shown = shown_columns(typed_names(rows.schema))
        if all(len(each.places) == 1 for each in shown):
            return rows
        return rows.selectExpr(*shown_expressions(shown))

    def columns(self) -> Dict[str, ColumnType]:
        """Return the columns that readers see, and their types."""
        return {each.name: each.kind for each in shown_columns(self._stored())}

    def narrow_paths(self) -> List[str]:
        """Return the paths of doubles some of whose values were stored as floats."""
        shown = shown_columns(self._stored())
        return [path for each in shown for _, paths in each.narrow for path in paths]

    def as_stored(self, rows: DataFrame) -> DataFrame:
        """Return new rows with the columns of the table's files, in their order."""
        written = written_columns(self._stored(), typed_names(rows.schema))
        return rows.selectExpr(*[each.expression for each in written])

    def write(
        self,
        rows: DataFrame,
        operation: Operation,
        metadata: Mapping[str, str],
        *,
        order: Sequence[str] = (),
    ) -> str:
        """Add rows by one commit that carries the metadata; return its instant."""
        ours = self.as_stored(rows)
        self._known = None
        return super().write(ours, operation, metadata, order=order)

    def _stored(self) -> List[Typed]:
        """Return what is stored, looked up once: only our own writes change it in a run."""
        if self._known is None:
            self._known = typed_names(self.schema()) if self.has_data() else []
        return self._known
