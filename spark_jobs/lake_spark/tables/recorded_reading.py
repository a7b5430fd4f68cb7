"""How the files of a table were read, recorded with each commit of its log, without Spark.

A change counts for files to come (contract, section 9): the first run that reads
otherwise says so, and a reprocess says which of its files are of before. A commit of an
earlier release has no record, and says nothing.
"""

from __future__ import annotations

import json
from typing import Dict, List, Optional, Tuple

from lake_spec.facts.reading_settings import changed_reading, reading_settings
from lake_spec.model import TableSpec
from lake_spec.model.json_codec import to_data
from lake_spark.errors import shortened
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.tables.settings_diff import Definition

UNTIL = "reading.until"
"""Per setting that was changed: its value before, and when the last file landed until then."""
_SHOWN = 200


def record(spec: TableSpec, ingested: IngestedFiles) -> Definition:
    """Return what the commit after these files records."""
    now, until = _now(spec), _changes(ingested)
    for name in _changed(spec, ingested):
        assert ingested.newest is not None, "changed before the first file"
        until[name] = (ingested.definition[name], ingested.newest)
    return {**now, **({UNTIL: json.dumps(until, sort_keys=True)} if until else {})}


def differences(spec: TableSpec, ingested: IngestedFiles) -> List[str]:
    """Return in words what that commit reads otherwise than those before."""
    now, names = _now(spec), _changed(spec, ingested)
    words = [_of_reprocess(name, now, ingested) for name in _changes(ingested)]
    told = [each for each in words if each]
    if names:
        old = ingested.definition
        listed = "; ".join(
            f"{name} was {_shown(old[name])}, now {_shown(now[name])}" for name in names
        )
        told.append(f"{listed}. That counts for files that are ingested from now on.")
        if others := ingested.count - len(ingested.retracting):
            told[-1] += (
                f" Rows of the {others:,} file(s) before stay as they were read; a reprocess "
                "of such a file reads it by the new settings."
            )
    return told


def _of_reprocess(name: str, now: Definition, ingested: IngestedFiles) -> Optional[str]:
    old, until = _changes(ingested)[name]
    if now.get(name, old) == old:
        return None
    count = sum(each.landed_at <= until for each in ingested.retracting)
    if not count:
        return None
    return (
        f"{name} was {_shown(old)} until the files landed that came after {until}, now "
        f"{_shown(now[name])}: {count:,} file(s) of this reprocess are of before, and their "
        "rows may differ from those that they replace."
    )


def _now(spec: TableSpec) -> Definition:
    found = reading_settings(to_data(spec)).items()
    return {name: json.dumps(value, sort_keys=True) for name, value in found}


def _changed(spec: TableSpec, ingested: IngestedFiles) -> List[str]:
    """Return the settings that differ from those of the last commit, if it has files."""
    has_files = ingested.newest is not None
    return changed_reading(ingested.definition, _now(spec)) if has_files else []


def _changes(ingested: IngestedFiles) -> Dict[str, Tuple[str, str]]:
    found = json.loads(ingested.definition.get(UNTIL, "{}"))
    return {name: (old, until) for name, (old, until) in found.items()}


def _shown(value: str) -> str:
    return shortened(value, _SHOWN)
