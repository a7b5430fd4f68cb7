"""What is done to a published table, by the names of the functions that do it."""

from tests.hostile.attacks.attack import ATTACKS
from tests.hostile.attacks import (  # noqa: F401
    of_authors,
    of_aws,
    of_delta_rs,
    of_duckdb,
    of_glue_optimizers,
    of_pyiceberg,
    of_spark_delta,
    of_spark_iceberg,
    of_trino,
)

__all__ = ["ATTACKS"]
