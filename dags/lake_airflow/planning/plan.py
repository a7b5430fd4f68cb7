"""From a domain to what its DAGs do, as plain data: no Airflow in here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Iterable, Optional, Tuple

from lake_spec.facts.product_inputs import reads_of
from lake_spec.layout.dag_names import (
    FULL_LOAD,
    INCREMENTAL,
    PRODUCTS,
    REBUILD,
    REPROCESS,
)
from lake_spec.layout.stage_tables import ERASE
from lake_spec.layout.stage_tables import (
    DIMENSION,
    MAINTENANCE,
    PRODUCT,
    REBUILD_DIMENSION,
    REBUILD_PRODUCT,
    SCD2,
    STREAMER,
    tables_of,
)
from lake_spec.model import (
    DomainSpec,
    HistoryRuns,
    Notifications,
    STAGE_HOURS,
    TableSpec,
    Concurrency,
)
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.platform.jars import jars_of
from lake_spec.run_options.asked import params_of, reads_files
from lake_spec.run_options.window import WINDOW


class StageKind(str, Enum):
    """Kind of steps that a stage submits to the cluster."""

    SPARK = "spark"
    STREAMER = "streamer"


@dataclass(frozen=True)
class Stage:
    """One task of a DAG: the steps of one stage, and the tables it is about.

    A Spark stage is one step for all of its tables and writes one report per
    table. The stages of `then` follow in the same step and application, each with
    reports of its own. A streamer stage is one step per table that its `prepared_by`
    stage names, and writes none. After `hours`, those of `then` included, its steps
    are cancelled.
    """

    name: str
    tables: Tuple[str, ...]
    kind: StageKind = StageKind.SPARK
    prepared_by: Optional[str] = None
    hours: float = STAGE_HOURS
    then: Tuple[Stage, ...] = ()

    @property
    def parts(self) -> Tuple[Stage, ...]:
        """The stages that its step runs, in their order: this one first."""
        return (self, *self.then)

    @property
    def writes_reports(self) -> bool:
        """True if every table of the stage has a report."""
        return self.kind is StageKind.SPARK


@dataclass(frozen=True)
class AlertThresholds:
    """Thresholds of notifications on a table although nothing failed; None for never."""

    late_after_hours: Optional[float] = None
    warn_share: Optional[float] = None


@dataclass(frozen=True)
class DagPlan:
    """One DAG: who, when and which stages, on one cluster per run.

    Its runs start `after` assets. They update the asset `updates`, of the change logs,
    and if they changed a table the asset `built`. All of its tables begin with a run of
    the DAG `loaded_by`, where there is one.
    """

    dag_id: str
    kind: str
    description: str
    domain: str
    owner: str
    cluster: str
    tags: Tuple[str, ...]
    tables: Tuple[str, ...]
    stages: Tuple[Stage, ...]
    jars: Tuple[str, ...] = ()
    concurrency: Concurrency = Concurrency.WAIT
    schedule: Optional[str] = None
    after: Tuple[str, ...] = ()
    updates: Optional[str] = None
    built: Optional[str] = None
    loaded_by: Optional[str] = None
    params: Tuple[str, ...] = ()
    notifications: Notifications = Notifications()
    watched: Tuple[Tuple[str, AlertThresholds], ...] = ()

    @property
    def parts(self) -> Tuple[Stage, ...]:
        """All stages, in their order, also those that share a step."""
        return tuple(part for stage in self.stages for part in stage.parts)

    def takes(self, param: str) -> bool:
        """Return whether its runs accept this param."""
        return param in self.params

    @property
    def takes_window(self) -> bool:
        """True if its runs can cover the files of a window only."""
        return self.takes(WINDOW[0])

    @property
    def reads_files(self) -> bool:
        """True if its runs look for landing files."""
        return reads_files(self.kind, self.params)


def plan(domain: DomainSpec) -> Tuple[DagPlan, ...]:
    """List the DAGs of a domain, in the order in which a new table meets them.

    A domain without tables has none: each of their runs would fail.
    """
    if not domain.tables:
        return ()
    own_history = domain.history_runs is HistoryRuns.OWN_DAG
    dags = [_full_load(domain), _incremental(domain, own_history)]
    if domain.continuous is not None:
        dags.append(_continuous(domain, domain.continuous.hours))
    if own_history:
        dags.append(_scd2(domain))
    if tables_of(PRODUCT, domain.tables):
        dags.append(_products(domain))
    maintenance = (_maintenance(domain), _rebuild(domain), _erase(domain))
    return (*dags, _reprocess(domain), *maintenance)


def changes_of(domain: str) -> str:
    """Return the name of the asset of the domain's change logs."""
    return f"{domain}.changes"


def built_of(domain: str) -> str:
    """Return the name of the asset of the domain's tables, built up to the products."""
    return f"{domain}.tables"


def _full_load(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        FULL_LOAD,
        f"Full load of {domain.name}: change log, current and history",
        stages=_steps(domain, *_ingestion(domain, FULL_LOAD), *_history(domain)),
        schedule=domain.schedules.full_load,
        built=_built(domain),
    )


def _incremental(domain: DomainSpec, own_history: bool) -> DagPlan:
    history = () if own_history else _history(domain)
    outcome = "change log and current" if own_history else "up to the history"
    return _dag(
        domain,
        INCREMENTAL,
        f"Ingestion of new files of {domain.name}: {outcome}",
        stages=_steps(domain, *_ingestion(domain, INCREMENTAL), *history),
        schedule=domain.schedules.incremental,
        updates=changes_of(domain.name) if own_history else None,
        built=None if own_history else _built(domain),
        loaded_by=_loaded_by(domain),
    )


def _continuous(domain: DomainSpec, hours: float) -> DagPlan:
    """Plan one stage of all tables, as long as a run may take, then maintenance."""
    batches = _stage(domain, CONTINUOUS)
    batches = replace(batches, hours=max(domain.stage_hours, hours + 1))
    return _dag(
        domain,
        CONTINUOUS,
        f"Continuous ingestion of {domain.name}: up to the history, then maintenance",
        stages=(batches, _stage(domain, MAINTENANCE)),
        schedule=domain.schedules.continuous,
        built=_built(domain),
        loaded_by=_loaded_by(domain),
    )


def _scd2(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        SCD2,
        f"History of {domain.name} from its change log",
        stages=_steps(domain, *_history(domain)),
        after=(changes_of(domain.name),),
        built=_built(domain),
    )


def _products(domain: DomainSpec) -> DagPlan:
    """Plan the products alone, after the tables of other domains that they read."""
    read = {name.split(".")[0] for t in domain.tables for name in reads_of(t)}
    return _dag(
        domain,
        PRODUCTS,
        f"Products of {domain.name} from the tables that they read",
        stages=_optional(domain, PRODUCT),
        after=tuple(built_of(each) for each in sorted(read - {domain.name})),
        built=_built(domain),
    )


def _built(domain: DomainSpec) -> Optional[str]:
    """Return the asset that a run updates which changed tables, if others may read them."""
    return built_of(domain.name) if domain.table_grants else None


def _loaded_by(domain: DomainSpec) -> Optional[str]:
    """Return the DAG that every table begins with; None if one does by another."""
    fed = tables_of(INCREMENTAL, domain.tables)
    begin_so = bool(fed) and all(table.begins_with_load for table in fed)
    return f"{domain.name}_{FULL_LOAD}" if begin_so else None


def _maintenance(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        "maintenance",
        f"Compaction, clustering and cleaning of {domain.name} where due",
        stages=(_stage(domain, MAINTENANCE),),
        schedule=domain.schedules.maintenance,
    )


def _rebuild(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        REBUILD,
        f"Rebuild of current and history of {domain.name} from the change log",
        stages=_steps(
            domain,
            _stage(domain, REBUILD),
            *_optional(domain, REBUILD_DIMENSION),
            *_optional(domain, REBUILD_PRODUCT),
        ),
        built=_built(domain),
    )


def _reprocess(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        REPROCESS,
        f"Retraction and renewed ingestion of chosen files of {domain.name}",
        stages=_steps(domain, _stage(domain, REPROCESS), *_history(domain)),
        built=_built(domain),
    )


def _erase(domain: DomainSpec) -> DagPlan:
    return _dag(
        domain,
        ERASE,
        f"Erasure of keys of {domain.name} from its files and tables",
        stages=(_stage(domain, ERASE),),
        built=_built(domain),
    )


def _ingestion(domain: DomainSpec, stage: str) -> Tuple[Stage, ...]:
    """Plan the ingesting stage, after its streamer if a table uses one."""
    prepare = _stage(domain, f"prepare_{stage}")
    if not prepare.tables:
        return (_stage(domain, stage),)
    streamer = replace(
        _stage(domain, STREAMER), kind=StageKind.STREAMER, prepared_by=prepare.name
    )
    return (prepare, streamer, _stage(domain, stage))


def _steps(domain: DomainSpec, *stages: Stage) -> Tuple[Stage, ...]:
    """Let one step run the Spark stages that follow each other, unless the domain
    wants a step for each.

    Those up to a streamer stage keep their steps: it is prepared by the one before.
    """
    if domain.step_per_stage:
        return stages
    is_streamer = [each.kind is StageKind.STREAMER for each in stages]
    apart = is_streamer.index(True) + 1 if any(is_streamer) else 0
    first, *others = stages[apart:]
    hours = sum(each.hours for each in (first, *others))
    return (*stages[:apart], replace(first, then=tuple(others), hours=hours))


def _history(domain: DomainSpec) -> Tuple[Stage, ...]:
    """Plan the history of the tables, then what is built from it."""
    others = (*_optional(domain, DIMENSION), *_optional(domain, PRODUCT))
    return (_stage(domain, SCD2), *others)


def _optional(domain: DomainSpec, stage: str) -> Tuple[Stage, ...]:
    """Plan a stage that not every domain has tables for."""
    found = _stage(domain, stage)
    return (found,) if found.tables else ()


def _stage(domain: DomainSpec, stage: str) -> Stage:
    names = _names(tables_of(stage, domain.tables))
    return Stage(stage, names, hours=domain.stage_hours)


def _watched(table: TableSpec) -> AlertThresholds:
    return AlertThresholds(table.late_after_hours, table.quarantine.warn_share)


def _names(tables: Iterable[TableSpec]) -> Tuple[str, ...]:
    return tuple(table.name for table in tables)


def _dag(domain: DomainSpec, kind: str, description: str, **rest: Any) -> DagPlan:
    return DagPlan(
        dag_id=f"{domain.name}_{kind}",
        kind=kind,
        description=description,
        domain=domain.name,
        owner=domain.owner,
        cluster=domain.cluster_of(kind),
        tags=tuple(dict.fromkeys(("lake", domain.name, kind, *domain.tags))),
        tables=_names(domain.tables),
        jars=jars_of(domain.tables),
        params=tuple(params_of(domain, kind)),
        concurrency=domain.concurrency,
        notifications=domain.notifications,
        watched=tuple((table.name, _watched(table)) for table in domain.tables),
        **rest,
    )
