"""The current table of a product, as the checks before a commit see it."""

from __future__ import annotations

from typing import Dict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lake_spec.model import ProductPlan, ProductTable
from lake_spec.text.sql_text import sql_identifier
from lake_spark.reading.quality_rules import failed_rules
from lake_spark.scd2.derived_table import Layer
from lake_spark.scd2.events import KEY
from lake_spark.schema.columns import any_null

MADE = "made"
"""Count of the rows that a build makes, those that stay as they are among them."""


class ProductLayer(Layer):
    """Rows that are made as they are stored; every one of them is true now."""

    name = "current"
    record_key = (KEY,)

    def __init__(self, spec: ProductTable, plan: ProductPlan) -> None:
        self._spec = spec
        self.witnesses = tuple(each.column for each in plan.time_joins)

    def desired(self, events: DataFrame) -> DataFrame:
        """Give the rows themselves."""
        return events

    def desired_of_single_events(self, events: DataFrame) -> DataFrame:
        """Give the rows themselves."""
        return events

    @property
    def is_open(self) -> Column:
        """Return true: a product has no versions."""
        return F.lit(True)

    @property
    def also_counted(self) -> Dict[str, str]:
        """Return the rows without a match in each history, and all of them as MADE."""
        told = {name: name for name in self.witnesses}
        return {**told, MADE: "true"} if told else {}

    @property
    def _key(self) -> str:
        return f"the key ({', '.join(self._spec.key)})"

    @property
    def repeated_key(self) -> str:
        """Return the words for rows that have the key of another row."""
        return f"{self._key} is that of another row too"

    @property
    def _broken_folders(self) -> Dict[str, str]:
        """Return values that name no folder of plain Parquet which all readers know."""
        found = {}
        for name in (
            self._spec.storage.partition_by if self._spec.storage.is_plain else ()
        ):
            found[f"the partition column {name} has no value"] = any_null([name])
            column = self._spec.column(name)
            if column is not None and column.type == "date":
                outside = f"year({sql_identifier(name)}) NOT BETWEEN 1 AND 9999"
                found[f"the partition column {name} is outside of years 1 to 9999"] = (
                    outside
                )
        return found

    @property
    def broken(self) -> Dict[str, str]:
        """Return what must not be true of a row: in words, and as SQL."""
        return {
            f"{self._key} has no value": any_null(self._spec.key),
            **self._broken_folders,
            **failed_rules(self._spec, "quarantine"),
            **failed_rules(self._spec, "fail"),
        }
