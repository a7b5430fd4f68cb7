"""The Spark session, for the tests of the loop."""

from tests.spark.conftest import spark  # noqa: F401
