"""Load files by their names: to Spark a landing path is a name, never a pattern."""

from __future__ import annotations

from functools import reduce
from typing import List, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.readwriter import DataFrameReader

_PATTERN_LIKE = frozenset("{}[]*?\\")


def load(reader: DataFrameReader, kind: str, uris: Sequence[str]) -> DataFrame:
    """Load files of a format, each exactly once."""
    source = reader.option("__globPaths__", "false").format(kind)
    return reduce(DataFrame.union, map(source.load, _loads(uris)))


def _loads(uris: Sequence[str]) -> List[List[str]]:
    """Split the files into lists to load, each file in one of them.

    Spark 3.5, set so that paths are no patterns, takes *all* paths of a load once more for
    each one that looks like a pattern: such a file is loaded alone.
    """
    odd = [each for each in uris if _PATTERN_LIKE & set(each)]
    plain = [each for each in uris if not _PATTERN_LIKE & set(each)]
    return ([plain] if plain else []) + [[each] for each in odd]
