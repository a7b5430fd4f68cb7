"""The PySpark program behind `show`: requests in, rows out.

    python -m lake_local.show.query REQUESTS.json ENGINE.log

Standard output carries data only and standard error one line per failure:
whatever the engine itself prints goes to the log.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from itertools import chain, islice
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence, TextIO, Tuple

from lake_local.show import request as requests
from lake_local.show.request import Format, QueryRefused, Request
from lake_local.show.spark_session import spark_session
from lake_local.show.writing import write

REFUSED = 2
CHANGED = 3
NEEDS_HUDI = 4
"""Exit codes: a query has no answer; what it reads was taken away meanwhile; Hudi alone
reads all of it."""


def main(argv: Sequence[str]) -> int:
    """Answer every request in turn; 2 with the reason for one without answer."""
    asked = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    data, words = keep_output_clean(Path(argv[1]))
    # Only now: what pyspark starts inherits the redirected output.
    from lake_local.show import reading

    spark = spark_session(Path(asked["jars"]), asked["endpoint"])
    try:
        for each in (requests.from_json(raw) for raw in asked["requests"]):
            answer(reading.rows(spark, each), each, data, words)
    except QueryRefused as error:
        print(error, file=words, flush=True)
        return REFUSED
    finally:
        spark.stop()
    return 0


def write_parquet(found: Any, output: str, limit: int) -> None:
    """Write rows as one Parquet file, by Spark, which makes a folder of it first.

    Args:
        found: a DataFrame.
        output: path of the file; its folder must be there.
        limit: how many rows at most; 0 is all.
    """
    limited = found.limit(limit) if limit else found
    with tempfile.TemporaryDirectory(dir=Path(output).parent, prefix=".show-") as made:
        folder = Path(made) / "rows"
        limited.coalesce(1).write.parquet(f"file://{folder}")  # as it is, unescaped
        (file,) = folder.glob("part-*.parquet")
        os.replace(file, output)


def answer(
    found: Any,
    request: Request,
    data: TextIO,
    words: TextIO,
    to_parquet: Callable[[Any, str, int], None] = write_parquet,
) -> None:
    """Write one request's rows to where it wants them."""
    if request.format == Format.PARQUET.value and request.output:
        to_parquet(found, request.output, request.limit)
    elif request.output:
        with open(request.output, "w", encoding="utf-8", newline="") as file:
            _write(found, request, file, words)
    else:
        _write(found, request, data, words)
        data.flush()


def _write(found: Any, request: Request, data: TextIO, words: TextIO) -> None:
    if request.count:
        print(found.count(), file=data)
        return
    write_rows(found, request.format, request.limit, data, words)


def write_rows(found: Any, how: str, limit: int, data: TextIO, words: TextIO) -> None:
    """Write rows in a format, so many at most; 0 is all. Say so if that cut some off.

    Nothing is written before the first row is there.
    """
    limited = _Limited(found, limit or None)
    rows = iter(limited)
    first = list(islice(rows, 1))
    for line in write(found.columns, chain(first, rows), how):
        data.write(line)
    if limited.there_is_more:
        print(f"only the first {limit} rows; --limit 0 shows all", file=words)


class Output(io.TextIOWrapper):
    """Our own standard output, which knows whether anything was written to it."""

    begun = False

    def write(self, text: str) -> int:
        """Write a text, and return its length in characters."""
        self.begun = True
        return super().write(text)


def refused(reason: str, data: Output, words: TextIO) -> int:
    """Say why there is no answer, or why what was written is not all of it."""
    if data.begun:
        reason = f"the output is incomplete, use none of it: {reason.splitlines()[0]}"
    print(reason, file=words)
    return REFUSED


def changed(data: Output, words: TextIO) -> int:
    """Return CHANGED, for another try; REFUSED where that would write rows twice."""
    if not data.begun:
        return CHANGED
    return refused("a run removed files while they were read. Ask again.", data, words)


class _Limited:
    """Rows up to a limit, and whether that cut some off."""

    def __init__(self, found: Any, limit: Optional[int]) -> None:
        self._found = found.limit(limit + 1) if limit else found
        self._limit = limit
        self.there_is_more = False

    def __iter__(self) -> Iterator[Any]:
        rows = (
            self._found.collect() if self._limit else self._found.toLocalIterator(True)
        )
        for number, row in enumerate(rows, start=1):
            if self._limit and number > self._limit:
                self.there_is_more = True
                return
            yield row


def keep_output_clean(log: Path) -> Tuple[Output, Output]:
    """Return our own standard output and error; from now on both lead to the log."""
    data, words = (
        Output(os.fdopen(os.dup(fd), "wb"), encoding="utf-8", newline="")
        for fd in (1, 2)
    )
    engine = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for fd in (1, 2):
        os.dup2(engine, fd)
    return data, words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
