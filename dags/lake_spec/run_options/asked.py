"""What a run is asked for, checked: from params of a form, or from arguments of a step."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Dict, List, Tuple

from lake_spec.diagnostics.diagnostic import shown
from lake_spec.diagnostics.suggestions import did_you_mean
from lake_spec.layout.dag_names import REPROCESS
from lake_spec.model import DomainSpec
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.run_options.options import OPTIONS, RunOptions
from lake_spec.run_options.values import FormField, RunForm
from lake_spec.run_options.window import WINDOW

CHOICE = ("window", "files", "quarantined")
"""The options of which a reprocess needs one, to know which files it is about."""

TYPES: Dict[str, str] = {
    param: kind
    for each in OPTIONS
    for param, kind in each.value.types(each.name).items()
}
"""JSON types of all params, by their names."""


@dataclass(frozen=True)
class FormOf:
    """The form of a DAG, told without Airflow."""

    dag_id: str
    kind: str
    domain: str
    tables: Tuple[str, ...]
    params: Tuple[str, ...]

    @property
    def reads_files(self) -> bool:
        """True if its runs look for landing files."""
        return reads_files(self.kind, self.params)


def reads_files(kind: str, params: Tuple[str, ...]) -> bool:
    """Return whether runs of a DAG with these params look for landing files."""
    return WINDOW[0] in params or kind == CONTINUOUS


def form_of(domain: DomainSpec, kind: str) -> FormOf:
    """Return the form of a domain's DAG; its tables are those of the domain."""
    names = tuple(table.name for table in domain.tables)
    params = tuple(params_of(domain, kind))
    return FormOf(f"{domain.name}_{kind}", kind, domain.name, names, params)


def params_of(domain: DomainSpec, kind: str) -> Iterator[str]:
    """List the params that a run of a DAG accepts, in the order of its form."""
    for each in OPTIONS:
        if each.is_of(domain, kind):
            yield from each.params


def form_fields(form: RunForm) -> Dict[str, FormField]:
    """Return the fields of a DAG's form, by their params."""
    found: Dict[str, FormField] = {}
    for each in OPTIONS:
        if _is_accepted(each.params, form):
            found.update(each.value.fields(each.name, form))
    return found


def checked(
    form: RunForm,
    params: Mapping[str, Any],
    faults: List[str],
    by_itself: Mapping[str, Any] = MappingProxyType({}),
) -> RunOptions:
    """Return the options of a run by its params.

    Args:
        form: the DAG of the run.
        params: values by the names of params, as JSON has them; of those that are left
            out the defaults hold.
        faults: gets a sentence for each thing that cannot be; then the options are not
            to be used.
        by_itself: params that nobody gave, such as the window of a backfill's run. They
            are no choice of the files of a reprocess.
    """
    for name in params:
        if name not in form.params:
            hint = did_you_mean(str(name), form.params)
            faults.append(
                f"{shown(name)}: unknown param. {hint}{form.dag_id} takes: "
                f"{', '.join(form.params)}."
            )
    chosen = [p for each in OPTIONS if each.name in CHOICE for p in each.params]
    if form.kind == REPROCESS and not any(params.get(each) for each in chosen):
        faults.append(
            f"{form.dag_id}: no files are chosen. Give at least one of: window_from "
            "and window_to, files, quarantined."
        )
    given = {**params, **by_itself}
    values = {
        each.name: each.value.checked(each.name, given, form, faults)
        for each in OPTIONS
        if _is_accepted(each.params, form)
    }
    return RunOptions(**values)


def _is_accepted(params: Tuple[str, ...], form: RunForm) -> bool:
    return params[0] in form.params


def planned(options: RunOptions) -> Iterator[str]:
    """Say what a run is asked for besides what its DAG does anyway."""
    for each in OPTIONS:
        if each.is_asked(options) and (
            words := each.planned(_value(each.name, options))
        ):
            yield words


def of_stage(options: RunOptions, stage: str) -> RunOptions:
    """Return the options that go to a stage; the others are as if nobody had asked."""
    others = {e.name: e.value.unset for e in OPTIONS if not e.goes_to(stage)}
    return replace(options, **others)


def step_arguments(stage: str, options: RunOptions) -> List[str]:
    """Return the options as arguments of a stage's step."""
    argv: List[str] = []
    for each in OPTIONS:
        if each.goes_to(stage) and each.is_asked(options):
            argv += each.value.to_arguments(each.argument, _value(each.name, options))
    return argv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the parser of a step read all options."""
    for each in OPTIONS:
        if each.stages != ():
            words = each.value.description
            settings = each.value.argument_settings()
            settings["help"] = (
                words.replace("%", "%%") if isinstance(words, str) else ""
            )
            parser.add_argument(each.argument, dest=each.name, **settings)


def from_arguments(
    parser: argparse.ArgumentParser, found: Dict[str, Any], stage: str
) -> RunOptions:
    """Take the options out of what a parser found, or end with its usage error."""
    options = RunOptions(
        **{e.name: found.pop(e.name) for e in OPTIONS if e.stages != ()}
    )
    for each in OPTIONS:
        if each.is_asked(options) and not each.goes_to(stage):
            stages = " or ".join(each.stages or ())
            parser.error(f"{each.argument} goes with --stage {stages}")
        is_needed = each.value.is_needed and each.goes_to(stage)
        if is_needed and not each.is_asked(options):
            parser.error(f"{stage}: {each.argument} is missing")
    if stage == REPROCESS and not any(_value(name, options) for name in CHOICE):
        names = [each.argument for each in OPTIONS if each.name in CHOICE]
        parser.error(f"{stage}: give at least one of {', '.join(names)}")
    return options


def _value(name: str, options: RunOptions) -> Any:
    return getattr(options, name)
