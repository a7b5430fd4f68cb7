"""Options of runs: their DAGs, params and step arguments.

The one table of it: the form shows a DAG's params, the check of a run knows no others,
and the steps of a stage get the arguments that go with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from lake_spec.contract.dag_names import PRODUCTS
from lake_spec.contract.pull_folders import PULLS
from lake_spec.contract.stage_tables import (
    ERASE,
    MAINTENANCE,
    PRODUCT,
    REBUILD_PRODUCT,
)
from lake_spec.model import DomainSpec, JdbcChanges, KafkaTopic, Snapshot

FULL_LOAD, INCREMENTAL, REBUILD = "full_load", "incremental", "rebuild"

REPROCESS = "reprocess"
"""The stage, and the kind of DAG, whose runs choose the landing files they are about."""

WINDOW = ("window_from", "window_to")
"""The params of a window."""

CHOICE = ("files", "quarantined", *WINDOW)
"""The params of which a reprocess needs one, to know which files it is about."""

LISTS = ("tables", "files", "empty_scopes", "partitions")
"""The params whose values are lists of texts."""


def _always(domain: DomainSpec, kind: str) -> bool:
    return True


def _may_lose(domain: DomainSpec, kind: str) -> bool:
    """Return whether runs read snapshots, or messages after lost ones."""
    has_topic = any(isinstance(t.changes_from, KafkaTopic) for t in domain.tables)
    return bool(_snapshots(domain)) or (kind == INCREMENTAL and has_topic)


def _has_scopes(domain: DomainSpec, kind: str) -> bool:
    """Return whether rows of snapshots name their scope, so that an empty one is
    unseen."""
    return any(each.scope and not each.scope.pattern for each in _snapshots(domain))


def _has_cursor(domain: DomainSpec, kind: str) -> bool:
    return any(isinstance(t.changes_from, JdbcChanges) for t in domain.tables)


def _has_partitions(domain: DomainSpec, kind: str) -> bool:
    """Return whether a product has partitions."""
    return any(t.is_product and t.storage.partition_by for t in domain.tables)


def _snapshots(domain: DomainSpec) -> list[Snapshot]:
    return [t.source for t in domain.tables if isinstance(t.source, Snapshot)]


def _flag(argument: str, value: Any) -> list[str]:
    return [argument]


def _text(argument: str, value: str) -> list[str]:
    return [argument, value]


def _any_text(argument: str, value: str) -> list[str]:
    """Format one word with its argument, which may begin with a dash."""
    return [f"{argument}={value}"]


def _any_texts(argument: str, values: tuple[str, ...]) -> list[str]:
    return [f"{argument}={each}" for each in values]


def _names(argument: str, values: tuple[str, ...]) -> list[str]:
    return [argument, ",".join(values)]


def _json(argument: str, value: Any) -> list[str]:
    return [argument, json.dumps(value)]


def _number(argument: str, value: float) -> list[str]:
    return [argument, f"{value:g}"]


@dataclass(frozen=True)
class RunOption:
    """One thing that a run can be asked for.

    `name` is what a checked run calls it; its form has the `params` for it, one of the
    same name where none are given. DAGs of these `kinds` have it, where `has_use` says
    so of their domain, and steps of these `stages` get it as `argument`; None is all.
    """

    name: str
    argument: Optional[str] = None
    write: Callable[[str, Any], list[str]] = _text
    kinds: Optional[tuple[str, ...]] = None
    stages: Optional[tuple[str, ...]] = None
    params: tuple[str, ...] = ()
    has_use: Callable[[DomainSpec, str], bool] = _always

    def is_of_kind(self, kind: str) -> bool:
        """Return whether runs of a kind of DAG accept it, in some domain."""
        return kind in (self.kinds or (kind,))

    def is_of(self, domain: DomainSpec, kind: str) -> bool:
        """Return whether runs of a DAG accept it."""
        return self.is_of_kind(kind) and self.has_use(domain, kind)

    @property
    def form_params(self) -> tuple[str, ...]:
        """The params by which a form asks for it."""
        return self.params or (self.name,)

    def goes_to(self, stage: str) -> bool:
        """Return whether the steps of a stage get it."""
        return self.argument is not None and stage in (self.stages or (stage,))


_LOADS = (FULL_LOAD, INCREMENTAL, REPROCESS)
_TAKES = (INCREMENTAL, REPROCESS)

OPTIONS = (
    RunOption("tables", "--tables", _names),
    RunOption("window", "--window", _text, _LOADS, params=WINDOW),
    RunOption("files", "--file", _any_texts, (REPROCESS,), (REPROCESS,)),
    RunOption("quarantined", "--quarantined", _flag, (REPROCESS,), (REPROCESS,)),
    RunOption(
        "retract_missing", "--retract-missing", _flag, (REPROCESS,), (REPROCESS,)
    ),
    RunOption(
        "accept_losses", "--accept-losses", _flag, _TAKES, _TAKES, has_use=_may_lose
    ),
    RunOption(
        "empty_scopes", "--empty-scopes", _json, _TAKES, _TAKES, has_use=_has_scopes
    ),
    RunOption(
        "pull_from",
        "--pull-from",
        _any_text,
        (INCREMENTAL,),
        PULLS,
        has_use=_has_cursor,
    ),
    RunOption(
        "verify",
        "--verify",
        _number,
        (REBUILD,),
        (REBUILD, REBUILD_PRODUCT),
        ("verify", "sample"),
    ),
    RunOption(
        "partitions",
        "--partition",
        _any_texts,
        (PRODUCTS,),
        (PRODUCT,),
        has_use=_has_partitions,
    ),
    RunOption(
        "move_foreign_files",
        "--move-foreign-files",
        _flag,
        (MAINTENANCE,),
        (MAINTENANCE,),
    ),
    RunOption("request", "--request", _text, (ERASE,), (ERASE,)),
    RunOption("plan_only"),
    RunOption("dry_run", "--dry-run", _flag),
)
"""All options, in the order of the form and of a step's arguments."""


def params_of(domain: DomainSpec, kind: str) -> Iterator[str]:
    """List the params that a run of a DAG accepts, in the order of its form."""
    for option in OPTIONS:
        if option.is_of(domain, kind):
            yield from option.form_params


def params_of_kind(kind: str) -> list[str]:
    """List the params that runs of a kind of DAG accept, whatever their domain."""
    return [p for each in OPTIONS if each.is_of_kind(kind) for p in each.form_params]


def step_arguments(stage: str, asked: Mapping[str, Any]) -> list[str]:
    """Return the run's options, by name, as arguments of a stage's step."""
    argv: list[str] = []
    for option in OPTIONS:
        value = asked[option.name]
        if option.goes_to(stage) and value not in (None, False, ()):
            argv += option.write(str(option.argument), value)
    return argv
