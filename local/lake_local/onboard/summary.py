"""What an onboarding ends with: what was written, what was not, what to do next."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, Iterator, Sequence

from lake_local.onboard.spec_text import GUESS, Guess
from lake_local.onboard.writing import Written, faults_of
from lake_local.text import table
from lake_local.workspace.project import find

_HEAD = ("table", "spec", "columns", "key", "comes by", "buckets", "guesses")


def told(done: Written, out: Path, seconds: float, to_add: Sequence[str]) -> int:
    """Print all of it, with what `validate` says; the exit code."""
    for line in _lines(done, seconds, to_add):
        print(line)
    files, faults = faults_of(out, done.folder.name)
    for fault in faults:
        print(fault)
    print(f"\nvalidate: {_count(files, 'file')}, {_count(len(faults), 'mistake')}")
    if not faults:
        for line in _next(done, out):
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
        f"{_count(len(done.drafts), 'spec')} written to {_short(done.folder)} in"
        f" {seconds:.1f} s, {_count(len(done.skipped), 'table')} skipped,"
        f" {_count(done.guesses, 'guess')} to check"
    )
    for why, number in _whys(done).most_common():
        yield f"  {number:>4}  {why}"
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


def _whys(done: Written) -> Counter:
    """How often each thing was guessed, details left out."""
    found: Counter = Counter()
    for draft in done.drafts:
        for line in draft.text.text.splitlines():
            if f"# {GUESS}: " in line:
                found[line.split(f"# {GUESS}: ", 1)[1].split(";")[0]] += 1
    return found


def _next(done: Written, out: Path) -> Iterator[str]:
    domain, project = done.folder.name, find()
    is_ours = out == project.tables
    tables = "" if is_ours else f" --tables {_short(out)}"
    yield "Next:"
    yield f"  grep -n {GUESS} {_short(done.folder)}/*.yml"
    yield f"  ./run_locally.sh validate{'' if is_ours else f' {_short(out)}'}"
    dag = project.dags / f"{domain}.py"
    if is_ours and not dag.exists():
        yield f"  cp dags/moma.py dags/{domain}.py, and write {domain} for moma in it"
    yield f"  ./run_locally.sh run {domain}_full_load{tables}"


def _count(number: int, thing: str) -> str:
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number or 'no'} {thing if number == 1 else plural}"


def _short(path: Path) -> str:
    """The path as it is typed from here."""
    short = os.path.relpath(path)
    return str(path) if short.startswith("..") else short
