"""Publish what Hudi committed: a version of each format for each commit.

Hudi's commit is the commit; what is published follows it. A run that was killed in
between is followed by one that publishes what is missing.
"""

from __future__ import annotations

from typing import Dict, Iterator, Optional, Sequence, Tuple, Type

from lake_spec.model import DimensionTable, TableType
from lake_spec.model.choices import ReadableAs
from lake_spark.errors import NotPublished
from lake_spark.publish import glue_tables
from lake_spark.publish.delta import Delta
from lake_spark.publish.format import CannotFollow, Format, Newest, SCRATCH
from lake_spark.publish.iceberg import Iceberg
from lake_spark.publish.instants import Instants
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.tables.table_run import TableRun

LAYERS = ("changes", "current", "history")
FORMATS: Dict[ReadableAs, Type[Format]] = {
    ReadableAs.ICEBERG: Iceberg,
    ReadableAs.DELTA: Delta,
}
_TRIES = 3


def publish(
    run: TableRun, layers: Sequence[str], *, keep_commits: Optional[int] = None
) -> None:
    """Publish every commit of these layers that is not published yet, oldest first.

    With `keep_commits` remove the versions whose files a cleaning will remove that keeps
    so many commits.
    """
    if run.earlier.is_registered and not run.report.commits:
        return
    for layer, instants, forms in _asked(run, layers):
        for kind, form in forms.items():
            if instants.names:
                _publish(run, layer, form, instants)
            elif keep_commits is None or form.newest() is None:
                continue
            if keep_commits is not None:
                form.expire(instants.kept(keep_commits))
            looks = run.report.stage == "maintenance"
            glue_tables.register(run, layer, kind, form, look=looks)


def begin_again(run: TableRun) -> None:
    """Remove every version that was published, and publish the newest commit alone."""
    drop_unasked(run)
    for layer, instants, forms in _asked(run, LAYERS):
        for kind, form in forms.items() if instants.names else ():
            _begin(run, layer, form, instants)
            glue_tables.register(run, layer, kind, form)


def drop_unasked(run: TableRun) -> None:
    """Remove entry and metadata of formats that the spec no longer names."""
    for layer, table in _tables(run, LAYERS):
        for kind in FORMATS:
            form = _format(run, layer, table, kind)
            if kind not in run.spec.storage.formats and form.is_ours():
                # A kill in between leaves what is seen by the next run.
                glue_tables.remove(run, layer, kind, form)
                form.drop()
                run.say(f"{layer} is no longer readable as {kind.value}")


def _asked(
    run: TableRun, layers: Sequence[str]
) -> Iterator[Tuple[str, Instants, Dict[ReadableAs, Format]]]:
    """Yield layers with their commits and the formats that the spec names.

    Look at no table where it names none.
    """
    kinds = run.spec.storage.formats
    for layer, table in _tables(run, layers) if kinds else ():
        forms = {kind: _format(run, layer, table, kind) for kind in kinds}
        yield layer, _instants(run, layer, table), forms


def _tables(run: TableRun, layers: Sequence[str]) -> Iterator[Tuple[str, HudiTable]]:
    for layer in layers:
        if layer not in LAYERS or layer not in run.layers or run.spec.storage.is_plain:
            continue
        is_there = layer != "changes" or not isinstance(run.spec, DimensionTable)
        if is_there and run.hudi(layer).has_data():
            yield layer, run.hudi(layer)


def _instants(run: TableRun, layer: str, table: HudiTable) -> Instants:
    merged = run.spec.storage.type is TableType.MERGE_ON_READ and layer != "changes"
    return Instants(table, run.store, merged=merged)


def _format(run: TableRun, layer: str, table: HudiTable, kind: ReadableAs) -> Format:
    folder = f"{run.environment.runs}/{run.report.run}/{run.report.stage}"
    return FORMATS[kind](
        run.spark,
        run.store,
        table,
        description=run.spec.description,
        columns={n: c.description for n, c in run.spec.columns if c.description},
        scratch=f"{folder}/{SCRATCH}/{run.spec.name}/{layer}",
    )


def _publish(run: TableRun, layer: str, form: Format, instants: Instants) -> None:
    for _ in range(_TRIES):
        newest = form.newest()
        if newest is None or not _follows(newest, instants):
            return _begin(run, layer, form, instants)
        steps = instants.steps(newest.instant)
        if not steps and form.is_up_to_date(newest):
            return form.heal(newest)
        run.check_lease()
        try:
            if form.append(newest, steps):
                instant = steps[-1].instant if steps else newest.instant
                return _note(run, layer, form, instant, len(steps))
        except CannotFollow:
            return _begin(run, layer, form, instants)
    raise NotPublished(_other_writer(form))


def _follows(newest: Newest, instants: Instants) -> bool:
    """Return whether what is published is a state that the table had."""
    if newest.instant not in instants.names:
        return False
    state = instants.state(newest.instant)
    size = sum(file.size for file in state)
    return (newest.files, newest.bytes) == (len(state), size)


def _begin(run: TableRun, layer: str, form: Format, instants: Instants) -> None:
    if form.is_there() and not form.is_ours():
        raise NotPublished(
            f"{form.root}: there is metadata that was not published from here. The rows are "
            "committed. Move it away if nobody needs it; otherwise take the format out of "
            "storage.readable_as. Then start the run again."
        )
    run.check_lease()
    step = instants.whole(instants.names[-1])
    if not form.begin(step):
        raise NotPublished(_other_writer(form))
    _note(run, layer, form, step.instant, 1)


def _note(run: TableRun, layer: str, form: Format, instant: str, count: int) -> None:
    what = f"{count} commit(s)" if count else "metadata again"
    run.say(f"{layer}: published {what} as {type(form).__name__}, up to {instant}")


def _other_writer(form: Format) -> str:
    return (
        f"{form.root}: another writer put a version of the same number. The rows are "
        "committed. Find out who writes there, then start the run again."
    )
