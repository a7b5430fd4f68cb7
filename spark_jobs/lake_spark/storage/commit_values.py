"""What commits carry besides rows: the values that say what a table was made of.

A commit and its values are completed together. So what they say holds exactly as long as
its rows do, whoever was killed before or after.
"""

from __future__ import annotations

from enum import Enum


class CommitValue(str, Enum):
    """The names of the values; Hudi's metadata has each behind METADATA_PREFIX.

    They are stored: what is renamed here is no longer found in tables that are there.
    """

    RUN = "run"
    """Of every commit."""
    RELEASE = "release"
    """Of every commit: the release that made it."""
    DEFINITION = "definition"
    """Of current, history and products: the settings they were made by, as JSON."""
    CHECKS = "checks"
    """The results of the checks before the commit, as JSON."""
    MEASURES = "measures"
    """What the checks before the next commit need of this one, as JSON."""

    INPUTS = "inputs"
    """Of the change log: the object of the files that were ingested up to the commit."""

    LOG_INSTANT = "log_instant"
    """The commit of the change log that the table was built up to.

    Of a dimension: one for each of its tables, as JSON.
    """
    ROWS = "rows"
    """How many rows the table has."""
    OPEN = "open"
    """How many of them are open: of current and products all that are not deleted."""
    ERASED = "erased"
    """Of a commit that erased keys: products of the table are built whole then."""
    FOLD = "fold"
    """By which fold all rows of the table were made (materialize/previous_rows.py)."""
    REPROCESSES = "reprocesses"
    """How many reprocesses its log had had, which the table knows of."""

    MADE_OF = "made_of"
    """Of a dimension: by table, the definition of the history it was built from, as JSON."""

    PRODUCT = "product"
    """Of a product: the digest of the plan that made all rows."""
    INPUTS_READ = "inputs_read"
    """Of a product: the commits that its inputs were read at, as JSON."""
    REMOVED_ROWS = "removed_rows"
    """Of a product: how many rows the commit removed."""

    HIGHEST_NUMBER = "highest_number"
    """Of numbers of versions: none above it was ever given."""

    __str__ = str.__str__
