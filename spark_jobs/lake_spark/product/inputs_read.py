"""Which commits of its inputs the rows of a product were last compared with.

Its own commit says so in its metadata. Where no row differed there is no commit: then an
object next to it notes what was read, and which commit of the product has those rows. The
note is true whenever it is there, and counts as long as that commit is the newest one. So
a run that is killed before it is written leaves only work that is done again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Mapping, Optional

from lake_spec.state.state_format import (
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spark.product.input_table import (
    InputTable,
    Pin,
    from_text,
    to_text,
)
from lake_spark.storage.commit_values import CommitValue
from lake_spark.tables.table_run import ProductRun


@dataclass(frozen=True)
class Note:
    """What was read without a commit: `inputs_read` as a commit says it."""

    commit: str
    inputs_read: str
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


def inputs_read(run: ProductRun) -> Dict[str, Pin]:
    """Return the commits by input; none where the product was never built."""
    commit = run.current.last_instant(CommitValue.INPUTS_READ)
    found = _note(run)
    if found is not None and found.commit == commit:
        return from_text(found.inputs_read)
    return from_text(run.current.last_value(CommitValue.INPUTS_READ))


def note_inputs_read(run: ProductRun, inputs: Iterable[InputTable]) -> None:
    """Note that the rows of the product are those of these commits, if it is not known."""
    commit = run.current.last_instant(CommitValue.INPUTS_READ)
    text = to_text(list(inputs))
    if commit is None or from_text(text) == inputs_read(run):
        return
    said = to_fields(Note(commit, text))
    written = state_text(said, release=run.report.release, indent=1)
    run.store.write(_uri(run), written.encode())


def _note(run: ProductRun) -> Optional[Note]:
    uri = _uri(run)
    try:
        content = run.store.read(uri)
    except KeyError:
        return None
    data = parse_state(
        content,
        what=f"what {run.spec.full_name} has read of its inputs",
        where=uri,
        release=run.report.release,
    )
    return from_fields(Note, data)


def _uri(run: ProductRun) -> str:
    return f"{run.home}/inputs_read.json"
