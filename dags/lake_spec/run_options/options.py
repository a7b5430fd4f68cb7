"""The options of runs, each declared in one place: a field of `RunOptions`.

From there come the params of each DAG, their form and its checks, the arguments of steps
and their parser, and what the plan of a run says. Where an option takes effect is a stage
of lake_spark/stages or a task of lake_airflow/operators: they read it by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, List, Optional, Tuple

from lake_spec.facts.pull_folders import PULLS, is_pull_from
from lake_spec.layout.dag_names import (
    FULL_LOAD,
    INCREMENTAL,
    PRODUCTS,
    REBUILD,
    REPROCESS,
)
from lake_spec.layout.partition_folders import EXPECTED, is_folder
from lake_spec.layout.stage_tables import (
    ERASE,
    MAINTENANCE,
    PRODUCT,
    REBUILD_PRODUCT,
)
from lake_spec.model import (
    DomainSpec,
    JdbcChanges,
    KafkaTopic,
    ProductTable,
    Snapshot,
    SnapshotTable,
)
from lake_spec.model.names import NAME
from lake_spec.run_options.values import (
    RunForm,
    Switch,
    SwitchedShare,
    TableNames,
    Text,
    TextRule,
    Texts,
    Value,
)
from lake_spec.run_options.window import Window
from lake_spec.state.erase_request import REQUEST

_LONGEST_FILE = 1024


def _is_file(text: str) -> bool:
    is_path = 1 <= len(text) <= _LONGEST_FILE and not text.startswith("/")
    return is_path and text.isprintable()


def _is_scope(text: str) -> bool:
    return re.fullmatch(r"[^\x00-\x1f\x7f]{1,128}", text) is not None


def _is_request(text: str) -> bool:
    return REQUEST.fullmatch(text) is not None


_TABLE = TextRule(NAME.fits, NAME.hint)
_FILE = TextRule(
    _is_file,
    "Give paths or globs below the table's landing folder, each of 1 to "
    f"{_LONGEST_FILE:,} printable characters; `?` matches one that is not printable.",
)
_SCOPE = TextRule(_is_scope, "Give values of 1 to 128 printable characters.")
_CURSOR = TextRule(
    is_pull_from,
    "Give a value of the cursor, as 2026-01-31T12:00:00 or 12345, or `start` for all "
    "rows.",
)
_PARTITION = TextRule(is_folder, f"Give {EXPECTED}.")
_REQUEST = TextRule(
    _is_request,
    "Give the name of the object <runs>/erase/<domain>/<name>.json that lists the keys "
    "to erase, of up to 128 letters, digits, '_', '.' and '-'.",
    pattern=REQUEST.pattern,
    is_shown=False,
)


@dataclass(frozen=True)
class Use:
    """Whether a domain has use for an option, in a kind of DAG; in words where not all do."""

    is_there: Callable[[DomainSpec, str], bool]
    words: str = ""


def _snapshots(domain: DomainSpec) -> List[Snapshot]:
    return [t.source for t in domain.tables if isinstance(t, SnapshotTable)]


def _may_lose(domain: DomainSpec, kind: str) -> bool:
    has_topic = any(isinstance(t.changes_from, KafkaTopic) for t in domain.tables)
    return bool(_snapshots(domain)) or (kind == INCREMENTAL and has_topic)


def _has_scopes(domain: DomainSpec, kind: str) -> bool:
    """Return whether rows of snapshots name their scope, so that an empty one is
    unseen."""
    return any(each.scope and not each.scope.pattern for each in _snapshots(domain))


def _has_cursor(domain: DomainSpec, kind: str) -> bool:
    return any(isinstance(t.changes_from, JdbcChanges) for t in domain.tables)


def _has_partitions(domain: DomainSpec, kind: str) -> bool:
    return any(
        isinstance(t, ProductTable) and t.storage.partition_by for t in domain.tables
    )


_ALWAYS = Use(lambda domain, kind: True)
_LOSSES = Use(_may_lose, "a table has snapshots, or in incremental runs a Kafka topic")
_SCOPES = Use(_has_scopes, "rows of snapshots name their scope")
_CURSOR_PULLS = Use(_has_cursor, "a table is pulled by a cursor")
_PARTITIONS = Use(_has_partitions, "a product has partitions")


def _what_a_dry_run_does(form: RunForm) -> str:
    if form.reads_files:
        return (
            "Read the files on a cluster, report what would be done and write nothing."
        )
    return "Check the specs against the tables on a cluster and write nothing."


@dataclass(frozen=True)
class RunOption:
    """One thing that a run can be asked for, as `option` declares it."""

    name: str
    value: Value[Any]
    kinds: Optional[Tuple[str, ...]]
    stages: Optional[Tuple[str, ...]]
    argument: str
    use: Use
    planned: Callable[[Any], str]

    @property
    def params(self) -> Tuple[str, ...]:
        """The params by which a form asks for it."""
        return tuple(self.value.types(self.name))

    def is_of_kind(self, kind: str) -> bool:
        """Return whether runs of a kind of DAG accept it, in some domain."""
        return self.kinds is None or kind in self.kinds

    def is_of(self, domain: DomainSpec, kind: str) -> bool:
        """Return whether runs of a DAG accept it."""
        return self.is_of_kind(kind) and self.use.is_there(domain, kind)

    def goes_to(self, stage: str) -> bool:
        """Return whether the steps of a stage get it."""
        return self.stages is None or stage in self.stages

    def is_asked(self, options: RunOptions) -> bool:
        """Return whether a run asks for it."""
        return getattr(options, self.name) not in (None, False, ())


def option(
    value: Value[Any],
    *,
    kinds: Optional[Tuple[str, ...]] = None,
    stages: Optional[Tuple[str, ...]] = None,
    argument: str = "",
    use: Use = _ALWAYS,
    planned: Callable[[Any], str] = lambda value: "",
) -> Any:
    """Declare an option: a field of `RunOptions`.

    Args:
        value: what it can be, with the words of its form.
        kinds: the kinds of DAGs whose runs accept it; None for all.
        stages: the stages whose steps get it; None for all, () for none.
        argument: its name as the argument of a step; `--the-name` if it is left out.
        use: which domains have use for it.
        planned: what the plan of a run says of its value.
    """
    declared = dict(value=value, kinds=kinds, stages=stages, argument=argument)
    more = dict(use=use, planned=planned)
    return field(default=value.unset, metadata={**declared, **more})


_LOADS = (FULL_LOAD, INCREMENTAL, REPROCESS)
_TAKES = (INCREMENTAL, REPROCESS)


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked for, in the order of its form and of a step's arguments."""

    tables: Tuple[str, ...] = option(
        TableNames("Tables that the run covers.", _TABLE),
        argument="--tables",
    )
    window: Optional[str] = option(
        Window(),
        kinds=_LOADS,
        planned=lambda span: f"only files of {' to before '.join(span.split('..'))}",
    )
    files: Tuple[str, ...] = option(
        Texts(
            _FILE,
            "Paths or globs below the table's landing folder. Default: any.",
            instead="Give globs, or a window, that cover more files each.",
            may_be_null=True,
        ),
        kinds=(REPROCESS,),
        stages=(REPROCESS,),
        argument="--file",
        planned=lambda files: f"only files {', '.join(files)}",
    )
    quarantined: bool = option(
        Switch("Only files that have rows in the quarantine: a replay after a fix."),
        kinds=(REPROCESS,),
        stages=(REPROCESS,),
        planned=lambda _: "only files with rows in the quarantine",
    )
    retract_missing: bool = option(
        Switch("Retract chosen files that are no longer in landing."),
        kinds=(REPROCESS,),
        stages=(REPROCESS,),
        planned=lambda _: "chosen files that are gone from landing: retracted",
    )
    accept_losses: bool = option(
        Switch(
            "Accept snapshots without rows, or that lose more keys than "
            "source.lost_share allows, and continue with a Kafka topic that lost "
            "messages before they were landed."
        ),
        kinds=_TAKES,
        stages=_TAKES,
        use=_LOSSES,
        planned=lambda _: "losses of keys and of messages: accepted",
    )
    empty_scopes: Tuple[str, ...] = option(
        Texts(
            _SCOPE,
            "Values of source.scope.column that the run's snapshots cover although "
            "they have no row with them: rows with these values are deleted.",
            most=None,
            is_json=True,
        ),
        kinds=_TAKES,
        stages=_TAKES,
        use=_SCOPES,
        planned=lambda scopes: f"scopes without rows: {', '.join(scopes)}",
    )
    pull_from: Optional[str] = option(
        Text(
            _CURSOR,
            "Pull tables with a cursor from this value on, as 2026-01-31T12:00:00 or "
            "12345, or from the `start`, instead of from their bookmarks. Choose the "
            "tables too.",
        ),
        kinds=(INCREMENTAL,),
        stages=PULLS,
        use=_CURSOR_PULLS,
        planned=lambda value: f"pulls: from {value}, not from their bookmarks",
    )
    verify: Optional[float] = option(
        SwitchedShare(
            "Rebuild nothing: compare current and history with the change log, row by "
            "row.",
            share_param="sample",
            of_share="Share of the keys to verify, with verify: 1 verifies all.",
            without="rebuild all",
        ),
        kinds=(REBUILD,),
        stages=(REBUILD, REBUILD_PRODUCT),
    )
    partitions: Tuple[str, ...] = option(
        Texts(
            _PARTITION,
            "Partitions to make again although their inputs did not change, by their "
            "folders or the first parts of these, as year=2026/month=1. Choose the "
            "tables too.",
        ),
        kinds=(PRODUCTS,),
        stages=(PRODUCT,),
        argument="--partition",
        use=_PARTITIONS,
        planned=lambda folders: f"partitions made again: {', '.join(folders)}",
    )
    move_foreign_files: bool = option(
        Switch(
            "Move files that the pipeline did not write out of the folders of the "
            "tables."
        ),
        kinds=(MAINTENANCE,),
        stages=(MAINTENANCE,),
        planned=lambda _: "foreign files: moved out of the tables' folders",
    )
    request: Optional[str] = option(
        Text(
            _REQUEST,
            "Name of the object <runs>/erase/<domain>/<name>.json that lists the keys "
            "to erase. Logs show the name: it must not contain a key.",
            is_needed=True,
        ),
        kinds=(ERASE,),
        stages=(ERASE,),
        planned=lambda name: f"request {name}",
    )
    plan_only: bool = option(
        Switch(
            "Show the cluster and the steps that the run would create; this costs "
            "nothing."
        ),
        stages=(),
    )
    dry_run: bool = option(
        Switch(_what_a_dry_run_does),
        planned=lambda _: "a dry run: writes nothing",
    )


def _options() -> Tuple[RunOption, ...]:
    found = []
    for each in fields(RunOptions):
        declared = dict(each.metadata)
        argument = declared.pop("argument") or "--" + each.name.replace("_", "-")
        found.append(RunOption(name=each.name, argument=argument, **declared))
    return tuple(found)


OPTIONS = _options()
"""All options, in their order."""
