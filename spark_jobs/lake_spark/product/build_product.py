"""Bring a product up to its inputs: the units that changed, or all of it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Dict, List, Mapping, Optional, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.hudi.options import Operation
from lake_spec.model import ProductPlan, ProductTable
from lake_spec.text.marked_values import row_value
from lake_spec.text.sql_text import sql_identifier
from lake_spark.checks import table_checks
from lake_spark.errors import (
    InputsGone,
    ProductMismatch,
    SettingsChanged,
    WrongProductRows,
)
from lake_spark.materialize import difference
from lake_spark.materialize.pre_commit_checks import Changes, counted
from lake_spark.product.input_table import (
    BuildWhole,
    InputTable,
    Pin,
    to_text,
)
from lake_spark.product.inputs_read import inputs_read, note_inputs_read
from lake_spark.product.layer import MADE, ProductLayer
from lake_spark.product.partitions import in_partitions, require_partitions
from lake_spark.product.transform import rows_of, views_of
from lake_spark.product.units import changed_units, has_keys_of_its_driver, of_units
from lake_spark.reading.quality_rules import failed_rules
from lake_spark.scd2.derived_table import CHANGED, INSERTED, REMOVED
from lake_spark.scd2.events import KEY
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.spark_jobs import cache_now, cache_until, row_of
from lake_spark.tables import recorded_settings
from lake_spark.tables.settings_diff import changed
from lake_spark.tables.table_run import ProductRun

MOST_WITHOUT_MATCH = 0.5
"""Share of rows without a match in a history joined by time above which a build warns."""


@dataclass(frozen=True)
class Task:
    """What to build: the units that may have changed, or everything and why.

    What `replaces` the table is not compared with its rows.
    """

    units: Optional[DataFrame] = None
    units_count: int = 0
    whole_because: str = ""
    partitions: Sequence[str] = ()
    """Folders of partitions whose rows are built alone, whatever changed."""
    replaces: bool = False
    is_erased: bool = False
    """Whether keys of an input were erased, so that older file versions must go."""

    def __str__(self) -> str:
        if self.partitions:
            return f"in part: the partitions {row_value(', '.join(self.partitions))}"
        if self.units is None:
            return f"whole: {self.whole_because}"
        return f"in part: {self.units_count:,} units may have changed"


def build_product(
    run: ProductRun,
    *,
    rebuild: bool = False,
    only_erased: bool = False,
    partitions: Sequence[str] = (),
) -> None:
    """Write what changed as one commit; where no row differs note what was read.

    With `only_erased` only what an erase in an input asks for. Then the rows of the
    `partitions` are made again, unless all were. A dry run says what it would build.
    """
    require_partitions(run.spec, partitions)
    plan = plan_of(run)
    inputs = inputs_of(run, plan)
    missing = sorted({each.name for each in inputs.values() if each.pin is None})
    if missing:
        run.warn(
            WarningId.INPUT_NOT_BUILT,
            f"it was not built, because it reads {', '.join(missing)}, which has no commit "
            "yet. Load that table first.",
        )
        return
    with ExitStack() as kept:
        first = _task(run, plan, inputs, kept, rebuild=rebuild)
        tasks = [first] if first and (first.is_erased or not only_erased) else []
        if partitions and not (tasks and tasks[0].units is None):  # it compared all
            tasks.append(_partitions_again(run, partitions))
        for task in tasks:
            run.say(f"{'would be ' * run.dry_run}built {task}")
            if not run.dry_run:
                _build(run, plan, inputs, task, kept)
    if not (run.dry_run or only_erased):
        note_inputs_read(run, inputs.values())
    _keep_count(run)


def _partitions_again(run: ProductRun, partitions: Sequence[str]) -> Task:
    if run.spec.storage.is_plain:
        reason = "partitions were asked for, and it is plain Parquet"
        return Task(whole_because=reason, replaces=True)
    return Task(partitions=partitions)


def plan_of(run: ProductRun) -> ProductPlan:
    """Return the compiled transformation."""
    plan = run.spec.source.plan
    if plan is None:
        raise ProductMismatch(
            f"{run.spec.full_name}: the release has no compiled SQL of it. Build the "
            "release again and deploy it."
        )
    return plan


def inputs_of(run: ProductRun, plan: ProductPlan) -> Dict[str, InputTable]:
    """Return the inputs by view; a layer that is used twice is read at one commit."""
    known: Dict[str, InputTable] = {}
    found: Dict[str, InputTable] = {}
    for each in plan.inputs:
        table = InputTable(run.spark, run.store, run.environment.warehouse, each)
        found[each.view] = known.setdefault(table.name, table)
    return found


def _task(
    run: ProductRun,
    plan: ProductPlan,
    inputs: Mapping[str, InputTable],
    kept: ExitStack,
    *,
    rebuild: bool,
) -> Optional[Task]:
    """Return what to build; None where nothing is new."""
    built = run.current.metadata_with(CommitValue.INPUTS_READ)
    if not built:
        return Task(whole_because="it was never built", replaces=True)
    since = inputs_read(run)
    reason = _erased(inputs, since)
    if reason:
        return Task(whole_because=reason, replaces=True, is_erased=True)
    reason = "a rebuild was asked for" if rebuild else _redefined(run, plan, built)
    if reason:
        return Task(whole_because=reason, replaces=True)
    if all(since.get(each.name) == each.pin for each in inputs.values()):
        return None
    if plan.whole_because:
        return Task(
            whole_because=plan.whole_because, replaces=run.spec.storage.is_plain
        )
    try:
        units = changed_units(plan, inputs, since, partial(cache_now, until=kept))
    except BuildWhole as found:
        return Task(whole_because=str(found))
    if units is None:
        return None
    units = cache_until(units, kept)
    return Task(units, units.count())


def rows_as_built(run: ProductRun) -> DataFrame:
    """Return what the SQL makes of the commits that the rows were last compared with.

    Raise InputsGone where files of these were cleaned.
    """
    plan, built = plan_of(run), run.current.metadata_with(CommitValue.INPUTS_READ)
    inputs, since = inputs_of(run, plan), inputs_read(run)
    reason = _redefined(run, plan, built)
    if reason:
        raise SettingsChanged(
            f"{run.spec.full_name}: {reason}. Build it before it is verified: the DAG "
            f"{run.spec.domain}_rebuild, without `verify`."
        )
    gone = [e.name for e in inputs.values() if not e.is_readable(since[e.name])]
    if gone:
        raise InputsGone(
            f"{run.spec.full_name}: files of the commits of {', '.join(sorted(set(gone)))} "
            "that it was built from were cleaned. Rebuild it, then verify it: the DAG "
            f"{run.spec.domain}_rebuild."
        )
    views = {view: each.rows(since[each.name]) for view, each in inputs.items()}
    return rows_of(run.spec, plan, views)


def _erased(inputs: Mapping[str, InputTable], since: Mapping[str, Pin]) -> str:
    """Return in words which inputs keys were erased in since they were read."""
    found = {
        each.erased_since(since[each.name])
        for each in inputs.values()
        if each.name in since
    }
    return "; ".join(sorted(found - {""}))


def _redefined(run: ProductRun, plan: ProductPlan, built: Mapping[str, str]) -> str:
    """Return in words how it is defined otherwise than when it was built."""
    if built[CommitValue.PRODUCT] != plan.digest:
        return "its SQL or its inputs are others"
    now = recorded_settings.of_table(run.spec, "current")
    chosen = recorded_settings.of_table(run.spec, "current", with_defaults=False)
    return "; ".join(changed(json.loads(built[CommitValue.DEFINITION]), now, chosen))


def _build(
    run: ProductRun,
    plan: ProductPlan,
    inputs: Mapping[str, InputTable],
    task: Task,
    kept: ExitStack,
) -> None:
    units = task.units
    if units is not None and not task.units_count:
        return run.say("no row of it differs")
    views = views_of(plan, inputs, units, partial(cache_now, until=kept))
    rows = rows_of(run.spec, plan, views)
    changes = _changes(run, plan, rows, task)
    # Rows that are made one by one are quickly made twice, to be checked and written.
    if not (task.replaces and plan.is_row_by_row):
        changes = cache_until(changes, kept)
    counts = _checked(run, plan, changes, task)
    if task.replaces or counts[INSERTED] + counts[CHANGED] + counts[REMOVED]:
        _commit(run, plan, inputs, task, changes, counts)
    else:
        run.say("no row of it differs")


def _changes(
    run: ProductRun, plan: ProductPlan, rows: DataFrame, task: Task
) -> DataFrame:
    """Return the rows to write, with how each differs from what is stored."""
    layer = ProductLayer(run.spec, plan)
    if task.replaces:
        return difference.inserted(rows, layer)
    stored = difference.shaped_as(run.current.read(), rows)
    if task.partitions:
        rows = in_partitions(rows, task.partitions)
        stored = in_partitions(stored, task.partitions)
    if task.units is not None:
        stored = of_units(stored, task.units, plan.unit_columns)
    identity = list(dict.fromkeys((KEY, *run.spec.storage.partition_by)))
    checks = table_checks.pre_commit(run, "current")
    old = checks.old_columns(rows.columns) if checks else ()
    return difference.difference(rows, stored, identity, layer, old)


def _checked(
    run: ProductRun, plan: ProductPlan, changes: DataFrame, task: Task
) -> Dict[str, Any]:
    """Count the changes; raise WrongProductRows if they break what must hold."""
    layer = ProductLayer(run.spec, plan)
    counts = counted(Changes(changes), layer)
    faults = []
    if not has_keys_of_its_driver(run.spec, plan, changes):
        faults += _repeated_keys(run.spec, layer, changes)
    faults += [
        f"{words}: {counts[f'broken_{i}']:,} row(s), for example key "
        f"{row_value(counts[f'broken_key_{i}'])}"
        for i, words in enumerate(layer.broken)
        if counts[f"broken_{i}"]
    ]
    by_key = task.units is not None and set(plan.unit_columns) <= set(run.spec.key)
    if (task.units is not None or task.partitions) and not by_key:
        faults += _keys_of_other_units(run, layer, changes)
    if faults:
        raise WrongProductRows(
            f"{run.spec.full_name}: {'; '.join(faults)}. Nothing was written. Correct the "
            "SQL, or the rows of its inputs."
        )
    _warn_of_rules(run, changes)
    _report_matches(run, plan, counts)
    return counts


def _repeated_keys(
    spec: ProductTable, layer: ProductLayer, changes: DataFrame
) -> List[str]:
    """Return in words that rows which are made have the key of another one.

    They are counted by a hash of the key's columns, which takes neither the key as text
    nor a sort of rows; keys are looked at where a hash is there twice.
    """
    made = changes.where(F.col("lake_action") != REMOVED)
    key = F.xxhash64(*[F.col(sql_identifier(name)) for name in spec.key])
    hashes = made.groupBy(key).count().where("count > 1")
    if not hashes.count():
        return []
    keys = made.groupBy(KEY).count().where("count > 1")
    count, first = keys.agg(F.sum("count"), F.min(KEY)).collect()[0]
    if not count:
        return []
    return [
        f"{layer.repeated_key}: {count:,} row(s), for example key {row_value(first)}"
    ]


def _keys_of_other_units(
    run: ProductRun, layer: ProductLayer, changes: DataFrame
) -> List[str]:
    """Return in words that new rows have keys of stored rows that do not change."""
    removed = changes.where(F.col("lake_action") == REMOVED).select(KEY)
    new = changes.where(F.col("lake_action") == INSERTED).select(KEY)
    new = new.join(removed, KEY, "left_anti")
    taken = run.current.read().join(new, KEY, "left_semi").select(KEY).take(1)
    return [
        f"{layer.repeated_key}, for example key {row_value(row[KEY])}" for row in taken
    ]


def _warn_of_rules(run: ProductRun, changes: DataFrame) -> None:
    rules = failed_rules(run.spec, "warn")
    kept = (*failed_rules(run.spec, "quarantine"), *failed_rules(run.spec, "fail"))
    run.report.add_rules(dict.fromkeys(kept, 0))  # else it would not be written
    if not rules:
        return
    made = changes.where(F.col("lake_action") != REMOVED)
    bad = row_of(made.agg(*[F.count_if(F.expr(sql)) for sql in rules.values()]))
    run.report.add_rules(dict(zip(rules, bad)))
    for words, count in zip(rules, bad):
        if count:
            run.warn(WarningId.FAILED_QUALITY_RULE, f"{count:,} row(s): {words}")


def _report_matches(
    run: ProductRun, plan: ProductPlan, counts: Mapping[str, Any]
) -> None:
    """Report the rows that are made without a match; warn where most of them are."""
    for each in plan.time_joins:
        total, count = counts[MADE], counts[each.column]
        words = f"no version of {each.table} was valid at its time"
        run.report.add_rules({words: count})
        run.say(f"{count:,} of {total:,} row(s): {words}")
        if count > total * MOST_WITHOUT_MATCH:
            run.warn(
                WarningId.FEW_MATCHES,
                f"{count:,} of {total:,} row(s) ({count / total:.0%}): {words}. Where what it "
                "loaded first was true before, declare load_effective_at in its spec, as in "
                '"1900-01-01", and load it anew.',
            )


def _commit(
    run: ProductRun,
    plan: ProductPlan,
    inputs: Mapping[str, InputTable],
    task: Task,
    changes: DataFrame,
    counts: Mapping[str, Any],
) -> None:
    table = run.current
    operation = Operation.REPLACE if task.replaces else Operation.UPSERT
    if not table.has_data():
        operation = Operation.BULK_INSERT
    before = 0 if task.replaces else table.last_count(CommitValue.ROWS)
    rows = str(before + counts[INSERTED] - counts[REMOVED])
    definition = recorded_settings.of_table(run.spec, "current")
    said: Dict[str, str] = {
        **run.commit_metadata(),
        CommitValue.DEFINITION: json.dumps(definition),
        CommitValue.INPUTS_READ: to_text(list(inputs.values())),
        CommitValue.PRODUCT: plan.digest,
        CommitValue.ROWS: rows,
        CommitValue.OPEN: rows,
        CommitValue.REMOVED_ROWS: str(counts[REMOVED]),
        **({CommitValue.ERASED: "true"} if task.is_erased else {}),
    }
    checks = None if task.is_erased else table_checks.pre_commit(run, "current")
    if checks:
        said.update(checks.of(changes, None if task.replaces else table.read))
    written = difference.to_write(changes, ProductLayer(run.spec, plan))
    instant = table.write(written, operation, said, order=run.spec.storage.sort_by)
    if checks:
        table_checks.settle(run, "current")
    report = run.report
    report.commits["current"] = instant
    upserted, deleted = counts[INSERTED] + counts[CHANGED], counts[REMOVED]
    report.upserted += upserted
    report.deleted += deleted
    report.built = (
        report.words(str(task)) if task.whole_because else report.built or "in part"
    )
    run.say(f"{upserted:,} rows upserted, {deleted:,} deleted, commit {instant}")


def _keep_count(run: ProductRun) -> None:
    if run.current.has_data():
        run.report.current_rows = run.current.last_count(CommitValue.ROWS)
