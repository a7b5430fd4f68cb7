"""What the programs that DuckDB answers have in common: a question in, an exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence

from lake_local.show.layers import FAILURES, are_gone
from lake_local.show.query import (
    NEEDS_HUDI,
    Output,
    changed,
    keep_output_clean,
    refused,
)
from lake_local.show.request import NeedsHudi, QueryRefused

Asked = Mapping[str, Any]


def answered(
    argv: Sequence[str],
    answer: Callable[[Asked, Output, Output], None],
    layers: Callable[[Asked], Iterable[Mapping[str, Any]]],
    reason: Callable[[Asked, Exception], str],
) -> int:
    """Answer a question, and return the exit code of the program.

    Args:
        argv: the file of the question, and that of the log.
        answer: writes to standard output and error, as these were.
        layers: those that the question has, each with its `files`.
        reason: says why DuckDB refused a query or failed on a row; it raises again what is
            a fault of the program.

    Returns:
        0; REFUSED with the reason where there is no answer; NEEDS_HUDI where Spark alone
        has one; CHANGED where files were taken away meanwhile, and nothing was written.
    """
    asked = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    data, words = keep_output_clean(Path(argv[1]))
    try:
        answer(asked, data, words)
    except QueryRefused as error:
        code = refused(str(error), data, words)
        return NEEDS_HUDI if isinstance(error, NeedsHudi) else code
    except FAILURES as error:
        if any(are_gone(each.get("files") or {}) for each in layers(asked)):
            return changed(data, words)
        return refused(reason(asked, error), data, words)
    finally:
        for stream in (data, words):
            stream.flush()
    return 0
