"""The options of one DAG run, checked before anything is created."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Tuple

from lake_airflow.planning.plan import DagPlan
from lake_airflow.runs.window import Interval, checked_window
from lake_airflow.settings import UNRELEASED, airflow_name
from lake_spec.contract.erase_request import REQUEST
from lake_spec.contract.partition_folders import EXPECTED, is_folder
from lake_spec.contract.pull_folders import is_pull_from
from lake_spec.contract.run_key import run_key
from lake_spec.contract.run_options import CHOICE, LISTS
from lake_spec.contract.state_format import (
    FORMAT,
    UnreadableState,
    WRITTEN_BY,
    from_fields,
    refuse_newer,
    to_fields,
)
from lake_spec.diagnostics.diagnostic import shown
from lake_spec.diagnostics.suggestions import did_you_mean

MOST_FILES = 100
"""Entries of `files` and of `partitions`: each of them is an argument of a step."""
_LONGEST_FILE = 1024
_FILE = re.compile(r"[^/].{0,%d}" % (_LONGEST_FILE - 1))
_SCOPE = re.compile(r"[^\x00-\x1f\x7f]{1,128}")
_SWITCHES = ("dry_run", "plan_only", "accept_losses", "move_foreign_files")
_PULL_FROM = "pull_from"


class RunRefused(ValueError):
    """A run asks for something that it cannot have; nothing was created.

    Fix: Correct the params as the message says and start the DAG again.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Run:
    """A checked run. It is pinned when the cluster is made and never changes,
    also when a new release arrives while it is under way."""

    dag_id: str
    key: str
    release: str
    tables: Tuple[str, ...]
    window: Optional[str] = None
    dry_run: bool = False
    plan_only: bool = False
    accept_losses: bool = False
    files: Tuple[str, ...] = ()
    quarantined: bool = False
    retract_missing: bool = False
    empty_scopes: Tuple[str, ...] = ()
    pull_from: Optional[str] = None
    verify: Optional[float] = None
    partitions: Tuple[str, ...] = ()
    move_foreign_files: bool = False
    request: Optional[str] = None
    sha256: str = ""
    """SHA-256 of what its steps run, as they are told; empty if it was pinned before."""
    run_id: str = ""  # as Airflow has it, for who asks whether it is over
    token: Optional[int] = None
    """Token of its domain's lease; None if the run was pinned before there were any."""
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """`<dag_id>/<run key>`: the run's folder and its word in every log."""
        return f"{self.dag_id}/{self.key}"

    def to_xcom(self) -> dict[str, Any]:
        """Return the run as JSON-ready data, with its format version."""
        return {FORMAT: 1, WRITTEN_BY: self.release, **to_fields(self)}

    @classmethod
    def from_xcom(cls, data: Mapping[str, Any]) -> Run:
        """Read the run that `to_xcom` wrote, perhaps of another release.

        UnreadableState where only a newer release understands it.
        """
        name = f"{data.get('dag_id')}/{data.get('key')}"
        where = f"the XCom `run` of the task create_cluster of {name}"
        refuse_newer(data, what=f"the pinned run {name}", where=where)
        lists = {name: tuple(data.get(name) or ()) for name in LISTS}
        try:
            return from_fields(cls, {**data, **lists})
        except TypeError as error:
            raise UnreadableState(
                f"the pinned run {name} cannot be read: {error}. Location: {where}. "
                "Clear create_cluster, or start a new run."
            ) from None


def check_run(
    plan: DagPlan,
    *,
    run_id: str,
    params: Mapping[str, Any],
    release: str,
    sha256: str = "",
    interval: Optional[Interval] = None,
) -> Run:
    """Check the Params and return the run. Raises RunRefused with all problems.

    `interval` is what a run of a backfill is about: it is the window of the run.
    """
    faults: list[str] = []
    if release == UNRELEASED:
        faults.append(
            "release: none. The DAGs do not refer to a release yet: build and upload "
            "one, which writes dags/release.json, then start the run again."
        )
    faults += _unknown(plan, params)
    tables = _tables(plan, params.get("tables"), faults)
    window = checked_window(params, interval, faults) if plan.takes_window else None
    more: dict[str, Any] = {n: _switch(n, params, faults) for n in _SWITCHES}
    if plan.takes("files"):
        more.update(_choice(plan, params, faults))
    more["empty_scopes"] = _empty_scopes(params.get("empty_scopes", []), faults)
    more[_PULL_FROM] = _pull_from(params.get(_PULL_FROM), faults)
    if plan.takes("verify"):
        more["verify"] = _verify(params, faults)
    if plan.takes("partitions"):
        more["partitions"] = _partitions(params.get("partitions"), faults)
    if plan.takes("request"):
        more["request"] = _request(params.get("request"), faults)
    key = _key(run_id, faults)
    if faults:
        raise RunRefused(faults)
    more["run_id"], more["token"] = run_id, 0  # until the lease is granted
    more["sha256"] = sha256
    return Run(plan.dag_id, key, release, tables, window, **more)


def _unknown(plan: DagPlan, params: Mapping[str, Any]) -> list[str]:
    return [
        f"{shown(name)}: unknown param. {did_you_mean(str(name), plan.params)}"
        f"{plan.dag_id} takes: {', '.join(plan.params)}."
        for name in params
        if not plan.takes(name)
    ]


def _tables(plan: DagPlan, value: Any, faults: list[str]) -> Tuple[str, ...]:
    """Return the tables of the run in the domain's order; all without a value."""
    if value is None:
        return plan.tables
    if not isinstance(value, (list, tuple)) or not value:
        faults.append(
            f"tables: got {shown(value)}. Give a list of at least one of:"
            f" {', '.join(plan.tables)}."
        )
        return ()
    faults += [_no_table(plan, each) for each in value if each not in plan.tables]
    return tuple(name for name in plan.tables if name in value)


def _no_table(plan: DagPlan, name: Any) -> str:
    hint = did_you_mean(str(name), plan.tables).strip()
    hint = hint or f"Choose from: {', '.join(plan.tables)}."
    return f"tables: {shown(name)} is not a table of {plan.domain}. {hint}"


def _choice(
    plan: DagPlan, params: Mapping[str, Any], faults: list[str]
) -> dict[str, Any]:
    """Return the files of a reprocess; refuse one without any choice."""
    if not any(params.get(name) for name in CHOICE):
        faults.append(
            f"{plan.dag_id}: no files are chosen. Give at least one of: window_from "
            "and window_to, files, quarantined."
        )
    return {
        "files": _files(params.get("files"), faults),
        "quarantined": _switch("quarantined", params, faults),
        "retract_missing": _switch("retract_missing", params, faults),
    }


def _files(value: Any, faults: list[str]) -> Tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        faults.append(f"files: got {shown(value)}. Give a list of paths or globs.")
        return ()
    if len(value) > MOST_FILES:
        faults.append(
            f"files: got a list of {len(value):,}; a run allows {MOST_FILES}. Give "
            "globs, or a window, that cover more files each."
        )
        return ()
    faults += [
        f"files: {shown(each)} is not a path or glob below the table's landing "
        f"folder, of 1 to {_LONGEST_FILE:,} printable characters; `?` matches one "
        "that is not printable."
        for each in value
        if not isinstance(each, str)
        or not _FILE.fullmatch(each)
        or not each.isprintable()
    ]
    return tuple(map(str, value))


def _switch(name: str, params: Mapping[str, Any], faults: list[str]) -> bool:
    value = params.get(name, False)
    if not isinstance(value, bool):
        faults.append(f"{name}: got {shown(value)}. Choose true or false.")
    return value is True


def _empty_scopes(value: Any, faults: list[str]) -> Tuple[str, ...]:
    texts = value if isinstance(value, (list, tuple)) else [value]
    for each in texts:
        if not isinstance(each, str) or not _SCOPE.fullmatch(each):
            faults.append(
                f"empty_scopes: got {shown(each)}. Give a list of values, each a text of"
                " up to 128 characters."
            )
            return ()
    if texts is not value:
        faults.append(f"empty_scopes: got {shown(value)}. Give a list of values.")
    return tuple(dict.fromkeys(texts))


def _pull_from(value: Any, faults: list[str]) -> Optional[str]:
    """Return where pulls by a cursor begin; None for their bookmarks."""
    if value is None or (isinstance(value, str) and is_pull_from(value)):
        return value
    faults.append(
        f"pull_from: got {shown(value)}. Give a value of the cursor, as"
        " 2026-01-31T12:00:00 or 12345, or `start` for all rows."
    )
    return None


def _partitions(value: Any, faults: list[str]) -> Tuple[str, ...]:
    """Return the partitions that a run of products makes again; none without a value."""
    texts = [] if value is None else value
    if not isinstance(texts, (list, tuple)) or len(texts) > MOST_FILES:
        faults.append(
            f"partitions: got {shown(value)}. Give a list of up to {MOST_FILES} "
            f"{EXPECTED}."
        )
        return ()
    faults += [
        f"partitions: got {shown(each)}. Give {EXPECTED}."
        for each in texts
        if not isinstance(each, str) or not is_folder(each)
    ]
    return tuple(dict.fromkeys(map(str, texts)))


def _verify(params: Mapping[str, Any], faults: list[str]) -> Optional[float]:
    """Return the share of keys to verify; None without verification."""
    sample = params.get("sample", 1)
    is_number = isinstance(sample, (int, float)) and not isinstance(sample, bool)
    if not is_number or not 0 < sample <= 1:
        faults.append(f"sample: got {shown(sample)}. Give a number above 0, up to 1.")
        return None
    if _switch("verify", params, faults):
        return float(sample)
    if sample != 1:
        faults.append(
            f"sample: got {shown(sample)} without verify, which would rebuild all. "
            "Add verify=true."
        )
    return None


def _request(value: Any, faults: list[str]) -> Optional[str]:
    """Return the name of a request; its content never passes through here."""
    if not isinstance(value, str) or not REQUEST.fullmatch(value):
        faults.append(
            "request: give the name of the object <runs>/erase/<domain>/<name>.json "
            "that lists the keys to erase, of up to 128 letters, digits, '_', '.' and "
            "'-'."
        )
        return None
    return value


def _key(run_id: str, faults: list[str]) -> str:
    try:
        return run_key(run_id, airflow_name())
    except ValueError as error:
        faults.append(str(error))
        return ""
