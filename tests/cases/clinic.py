"""The clinic of data/synthea: its specs, exports as they land, what its products must be."""

from __future__ import annotations

import csv
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Dict, List, Set, Tuple

SYNTHEA = Path(__file__).resolve().parents[2] / "data" / "synthea"
TABLES = SYNTHEA / "tables"
SOURCES = ("patients", "encounters", "conditions", "observations")
COLUMNS = {
    "symptom_encounters": ("id", "reasoncode", "year", "month", "day"),
    "daily_observations": ("patient", "date", "code", "value", "year", "month", "day"),
    "sinusitis_conditions": ("patient", "encounter", "code", "age_in_days"),
}
"""Of each product, the columns of `expected`."""


def export(folder: Path, size: int, until: str, seed: int = 1) -> None:
    """Generate an export: `<folder>/<table>/<table>_<until>.csv`."""
    generate = [sys.executable, str(SYNTHEA / "generate.py"), str(size), str(seed)]
    generate += ["--until", until, "--to", str(folder)]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)


def rows(folder: Path, table: str, until: str) -> List[Dict[str, str]]:
    """The rows of an exported table."""
    with (folder / table / f"{table}_{until}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def expected(folder: Path, until: str) -> Dict[str, Set[Tuple[str, ...]]]:
    """The rows of each product by plain Python, as texts."""
    patients = {
        row["Id"]: row
        for row in rows(folder, "patients", until)
        if all(row[each] for each in ("MARITAL", "RACE", "ETHNICITY", "GENDER"))
    }
    return {
        "symptom_encounters": {
            (row["Id"], row["REASONCODE"], *_day(row["START"]))
            for row in rows(folder, "encounters", until)
            if "Encounter for symptom" in row["DESCRIPTION"] and row["REASONCODE"]
        },
        "daily_observations": {
            (
                *(row[c] for c in ("PATIENT", "DATE", "CODE", "VALUE")),
                *_day(row["DATE"]),
            )
            for row in rows(folder, "observations", until)
        },
        "sinusitis_conditions": {
            (
                *(row["PATIENT"], row["ENCOUNTER"], row["CODE"]),
                _days(patients[row["PATIENT"]]["BIRTHDATE"], row["START"]),
            )
            for row in rows(folder, "conditions", until)
            if "sinusitis" in row["DESCRIPTION"].lower() and row["PATIENT"] in patients
        },
    }


def _day(time: str) -> List[str]:
    return [str(int(part)) for part in time[:10].split("-")]


def _days(first: str, last: str) -> str:
    return str((date.fromisoformat(last) - date.fromisoformat(first)).days)
