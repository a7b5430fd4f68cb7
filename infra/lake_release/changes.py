"""The changes of a release: its plan, before anything is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set, Tuple

from lake_check.parsing import product_plans
from lake_release.built import MANIFEST, Manifest
from lake_release.store import dag_files
from lake_spec.facts.reading_settings import changed_reading, reading_settings
from lake_spec.layout.dag_kinds import dag_ids
from lake_spec.layout.dag_names import PROOF, REAPER, ids_of
from lake_spec.layout.release_files import CODE, MAIN, PACKAGES, RELEASE

MORE = 12
"""Number of changed settings of a table that are named; the rest are counted."""
_STEPS = (CODE, PACKAGES, MAIN)
_TOLD_ALREADY = (
    *("tables/", "environments/"),
    *(RELEASE, MANIFEST, product_plans.FILE),
)


@dataclass(frozen=True)
class State:
    """A release to compare: its files, its specs by domain."""

    manifest: Manifest
    specs: Mapping[str, Any]


def changes(old: State, new: State) -> Iterator[str]:
    """List a line per difference; empty without any."""
    yield from _tables(old.specs, new.specs)
    yield from _environment(old.specs, new.specs)
    yield from _dag_files(old.manifest, new.manifest)
    yield from _code(old.manifest, new.manifest)
    yield from _airflow(old.manifest, new.manifest)


def gone_dags(old: State, new: State) -> Set[str]:
    """List the ids of DAGs of the old release that the new one does not have."""
    files = dag_files(old.manifest.get("dags", ())) - dag_files(
        new.manifest.get("dags", ())
    )
    of_files = (ids_of(name[: -len(".py")]) for name in files)
    return (dags_of(old) - dags_of(new)).union(*of_files)


def dags_of(state: State) -> Set[str]:
    """List the ids of the DAGs of all domains of a release."""
    return set().union(*(dag_ids(each["domain"]) for each in state.specs.values()))


def all_dags(state: State) -> Set[str]:
    """List the ids of all DAGs of a release, also those of no domain."""
    return dags_of(state) | {PROOF, REAPER}


def _tables(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for domain in sorted({*old, *new}):
        before, after = (_domain(specs.get(domain)) for specs in (old, new))
        for table in sorted({*before[1], *after[1]}):
            name = f"{domain}.{table}"
            both = before[1].get(table), after[1].get(table)
            yield from _compared("table", name, *both)
            yield from _from_now_on(name, *both)
        yield from _compared("domain", domain, before[0], after[0])


Settings = Mapping[str, Any]


def _domain(spec: Any) -> Tuple[Optional[Settings], Dict[str, Settings]]:
    """Return settings of a domain without its tables, and those tables by name."""
    if spec is None:
        return None, {}
    settings = dict(spec["domain"])
    return settings, {each["name"]: each for each in settings.pop("tables")}


def _environment(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before, after = (_environment_of(specs) for specs in (old, new))
    if before and after:
        yield from _compared("environment", after["name"], before, after)


def _environment_of(specs: Mapping[str, Any]) -> Optional[Mapping[str, Any]]:
    return next((each["environment"] for each in specs.values()), None)


def runs_root(specs: Mapping[str, Any]) -> Optional[str]:
    """Return where the runs of a release have their leases; None without a domain."""
    place = _environment_of(specs)
    return place["runs"] if place else None


def _compared(
    what: str, name: str, old: Optional[Settings], new: Optional[Settings]
) -> Iterator[str]:
    if old == new:
        return
    if old is None:
        yield f"{what} {name}: new"
    elif new is None:
        yield f"{what} {name}: removed from the specs; its data remain"
    else:
        settings = list(_differing(old, new))
        named = ", ".join(settings[:MORE])
        more = f" and {len(settings) - MORE} more" if len(settings) > MORE else ""
        yield f"{what} {name}: {named}{more}"


def _from_now_on(
    name: str, old: Optional[Settings], new: Optional[Settings]
) -> Iterator[str]:
    """Say which settings of a table that is there count for files to come alone."""
    if not (old and new):
        return
    if names := changed_reading(reading_settings(old), reading_settings(new)):
        yield (
            f"table {name}: {', '.join(names)}: from now on. Rows of files that are ingested"
            " stay as they are until the files are reprocessed"
        )


def _differing(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """List the dotted settings whose values differ."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield at
        return
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield from _differing(
                old.get(key), new.get(key), f"{at}.{key}" if at else key
            )


def _dag_files(old: Manifest, new: Manifest) -> Iterator[str]:
    before, after = (dag_files(each.get("dags", ())) for each in (old, new))
    yield from (f"DAG file {name}: new" for name in sorted(after - before))
    yield from (f"DAG file {name}: removed" for name in sorted(before - after))


def _code(old: Manifest, new: Manifest) -> Iterator[str]:
    if set(_STEPS) & set(_changed(old, new, "artifacts")):
        yield "code of the steps: changed"
    names = [n for n in _changed(old, new, "dags") if not n.startswith(_TOLD_ALREADY)]
    folders = Counter(name.split("/")[0] for name in names)
    for folder, count in sorted(folders.items()):
        yield f"dags/{folder}: {count} file(s) differ"


def _airflow(old: Manifest, new: Manifest) -> Iterator[str]:
    for name in _changed(old, new, "airflow"):
        yield f"{name}: changed, so MWAA's environment is updated, which takes up to an hour"


def _changed(old: Manifest, new: Manifest, part: str) -> List[str]:
    names = sorted({*old.get(part, ()), *new.get(part, ())})
    return [name for name in names if _of(old, part, name) != _of(new, part, name)]


def _of(manifest: Manifest, part: str, name: str) -> str:
    return manifest.get(part, {}).get(name, "")
