"""Prints the result of an onboarding: written and skipped specs, and next steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Sequence

from lake_local.onboard.spec_text import GUESS, Guess
from lake_local.onboard.writing import Written, faults_of
from lake_local.text import table
from lake_local.workspace.command_line import SCRIPT, short, typed
from lake_local.workspace.state_dir import StateDirectory

_HEAD = ("table", "spec", "columns", "key", "ingested by", "buckets", "guesses")


@dataclass(frozen=True)
class FirstRun:
    """How the tables' rows get from their source to the first run, for the next steps.

    `files` is the folder on this machine with landing files for `put`, which go below
    `landing`; `variable` is the environment to set, if it is not the usual one.
    `is_captured`: `connect` is to bring the rows, and later changes, into topics.
    """

    home: StateDirectory
    is_local: bool = True
    variable: str = ""
    files: Path | None = None
    landing: str = ""
    is_captured: bool = False


def print_all(
    done: Written, out: Path, seconds: float, to_add: Sequence[str], first: FirstRun
) -> int:
    """Print the result with the mistakes that `validate` finds; return the exit code."""
    for line in _lines(done, seconds, to_add):
        print(line)
    files, faults = faults_of(out, done.folder.name)
    for fault in faults:
        print(fault)
    print(f"\nvalidate: {_count(files, 'file')}, {_count(len(faults), 'mistake')}")
    if not faults:
        for line in _next(done, out, first):
            print(line)
    return 1 if faults else 0


def _lines(done: Written, seconds: float, to_add: Sequence[str]) -> Iterator[str]:
    if done.drafts:
        yield from table(_HEAD, [_row(each) for each in done.drafts])
        yield ""
    if done.skipped:
        rows = [(each.name, each.why) for each in done.skipped]
        yield from table(("skipped", "why"), rows)
        yield ""
    yield (
        f"{_count(len(done.drafts), 'spec')} written to {short(done.folder)} in"
        f" {seconds:.1f} s, {_count(len(done.skipped), 'table')} skipped,"
        f" {_count(done.guesses, 'guess')} to check"
    )
    for why, number in _whys(done).most_common():
        yield f"  {number:>4}  {why}"
    if done.dag is not None:
        yield f"DAG file written to {short(done.dag)}"
    if to_add:
        yield "\nAdd to the environment's file (and to that of each other environment):"
        yield "connections:"
        yield from (f"  {each}" for each in to_add)


def _row(draft: Any) -> Sequence[Any]:
    text = draft.text
    key = text.key.value if isinstance(text.key, Guess) else text.key
    return (
        *(draft.table.name, f"{text.name}.yml", len(text.columns), ", ".join(key)),
        *(draft.way, text.storage["buckets"], text.guesses),
    )


def _whys(done: Written) -> Counter[str]:
    """Count the guesses by reason, without details."""
    found: Counter[str] = Counter()
    for draft in done.drafts:
        for line in draft.text.text.splitlines():
            if f"# {GUESS}: " in line:
                found[line.split(f"# {GUESS}: ", 1)[1].split(";")[0]] += 1
    return found


def _next(done: Written, out: Path, first: FirstRun) -> Iterator[str]:
    """List every step from the specs to the first rows."""
    domain = done.folder.name

    def command(words: str) -> str:
        return f"  {typed(words, home=first.home, tables=out)}"

    yield "Next:"
    yield f"  grep -n {GUESS} {short(done.folder)}/*.yml   # check each, remove the mark"
    yield f"  {SCRIPT} validate {short(done.folder)}"
    if not first.is_local:
        yield f"  # commit, deploy (docs/deploy.md) and start {domain}_full_load in Airflow"
        return
    if first.variable:
        yield f"  export LAKE_ENVIRONMENT={first.variable}"
    if first.files is not None:
        yield command(f"put {short(first.files)} {first.landing}/{domain}/")
    if first.is_captured:
        yield f"{command(f'connect {domain}')}   # in a terminal of its own"
    kind = "incremental" if first.is_captured else "full_load"
    yield command(f"run {domain}_{kind}")
    name = done.drafts[0].text.name if done.drafts else "TABLE"
    yield command(f"show {domain}.{name}")


def _count(number: int, thing: str) -> str:
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number or 'no'} {thing if number == 1 else plural}"
