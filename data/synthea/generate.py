"""Generate patients, encounters, conditions and observations as Synthea exports them.

    python data/synthea/generate.py [SIZE [SEED]] [--until DATE] [--to FOLDER]

writes <FOLDER>/<table>/<table>_<DATE>.csv for SIZE patients: all that was recorded before
that date. The same SIZE, SEED and DATE give the same bytes. A later date gives the same
patients with what was recorded since, some of it long after it happened.

Columns and formats are those of Synthea's CSV exporter (https://github.com/synthetichealth/
synthea, Apache License 2.0); the rows are invented here and say nothing about medicine.
"""

from __future__ import annotations

import argparse
import csv
import sys
import uuid
from contextlib import ExitStack
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple

Row = Sequence[object]

HEADERS = {
    "patients": "Id,BIRTHDATE,DEATHDATE,SSN,DRIVERS,PASSPORT,PREFIX,FIRST,MIDDLE,LAST,SUFFIX,"
    "MAIDEN,MARITAL,RACE,ETHNICITY,GENDER,BIRTHPLACE,ADDRESS,CITY,STATE,COUNTY,FIPS,ZIP,"
    "LAT,LON,HEALTHCARE_EXPENSES,HEALTHCARE_COVERAGE,INCOME",
    "encounters": "Id,START,STOP,PATIENT,ORGANIZATION,PROVIDER,PAYER,ENCOUNTERCLASS,CODE,"
    "DESCRIPTION,BASE_ENCOUNTER_COST,TOTAL_CLAIM_COST,PAYER_COVERAGE,REASONCODE,"
    "REASONDESCRIPTION",
    "conditions": "START,STOP,PATIENT,ENCOUNTER,SYSTEM,CODE,DESCRIPTION",
    "observations": "DATE,PATIENT,ENCOUNTER,CATEGORY,CODE,DESCRIPTION,VALUE,UNITS,TYPE",
}
Days = Tuple[date, date]
DAYS = date(1997, 6, 1), date(2026, 12, 31)
"""Encounters are between these days: nearly 30 years, as in a full export of Synthea."""

DOUBLED = 0.01  # of the rows of encounters, conditions and observations
LATE = 0.05  # of the encounters, recorded days or years after they happened
EMPTY = 0.03  # of the patients, for each of race, ethnicity and gender

SYMPTOM = ("ambulatory", "185345009", "Encounter for symptom", "85.55")
KINDS = (
    ("wellness", "162673000", "General examination of patient (procedure)", "136.80"),
    ("outpatient", "185349003", "Encounter for check up (procedure)", "77.49"),
    ("ambulatory", "185347001", "Encounter for problem (procedure)", "85.55"),
    ("emergency", "50849002", "Emergency room admission (procedure)", "146.18"),
    SYMPTOM,
    SYMPTOM,
)
ILLNESSES = (
    ("444814009", "Viral sinusitis (disorder)"),
    ("40055000", "Chronic sinusitis (disorder)"),
    ("36971009", "Sinusitis (disorder)"),
    ("195662009", "Acute viral pharyngitis (disorder)"),
    ("10509002", "Acute bronchitis (disorder)"),
    ("43878008", "Streptococcal sore throat (disorder)"),
)
FINDINGS = (
    ("59621000", "Hypertension"),
    ("162864005", "Body mass index 30+ - obesity (finding)"),
    ("160903007", "Full-time employment (finding)"),
    ("73595000", "Stress (finding)"),
)
MEASURES = (
    ("8302-2", "Body Height", "cm", 140, 200),
    ("29463-7", "Body Weight", "kg", 40, 130),
    ("39156-5", "Body mass index (BMI) [Ratio]", "kg/m2", 17, 45),
    ("8462-4", "Diastolic Blood Pressure", "mm[Hg]", 60, 100),
    ("8480-6", "Systolic Blood Pressure", "mm[Hg]", 95, 160),
    ("8867-4", "Heart rate", "/min", 55, 110),
    ("9279-1", "Respiratory rate", "/min", 11, 19),
    ("72514-3", "Pain severity - 0-10 verbal numeric rating", "{score}", 0, 10),
)
SMOKING = ("72166-2", "Tobacco smoking status", "Never smoked tobacco (finding)")
CITIES = (
    ("Boston", "Suffolk County", "25025", "02108", 42.36, -71.06),
    ("Worcester", "Worcester County", "25027", "01602", 42.27, -71.8),
    ("Springfield", "Hampden County", "25013", "01103", 42.1, -72.59),
    ("Lowell", "Middlesex County", "25017", "01850", 42.64, -71.32),
)
NAMES = {"F": ("Ana", "Mei", "Ruth", "Zoe"), "M": ("Abe", "Ian", "Luis", "Omar")}
FAMILIES = ("Abbott", "Diaz", "Hegmann", "Kuhn", "Okafor", "Tran", "Walsh")


class Patient(NamedTuple):
    """A patient's row, and what the other tables need of it."""

    id: str
    born: date
    died: date
    row: Row


class Visit(NamedTuple):
    """An encounter with what was diagnosed and measured."""

    encounter: Row
    conditions: List[Row]
    observations: List[Row]


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("size", nargs="?", type=int, default=100, help="patients")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--until", type=date.fromisoformat, default=date(2026, 1, 1))
    parser.add_argument("--to", type=Path, default=Path("synthea"), help="a folder")
    asked = parser.parse_args(argv)
    for file, rows in write(asked.size, asked.seed, asked.until, asked.to).items():
        print(f"{rows:>10,} rows  {file}")


def write(
    size: int, seed: int, until: date, folder: Path, days: Days = DAYS
) -> Dict[Path, int]:
    """Write the four files.

    Args:
        size: number of patients.
        seed: of all random choices.
        until: what was recorded on this day or later is left out.
        folder: where the folders of the tables are, or are made.
        days: the first day with encounters, and the one after the last.

    Returns:
        Each file with its number of rows.
    """
    files = {t: folder / t / f"{t}_{until.isoformat()}.csv" for t in HEADERS}
    rows = dict.fromkeys(files, 0)
    with ExitStack() as opened:
        writers = {}
        for table, file in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            stream = opened.enter_context(file.open("w", encoding="utf-8", newline=""))
            writers[table] = csv.writer(stream, lineterminator="\n")
            writers[table].writerow(HEADERS[table].split(","))
        for number in range(size):
            for table, row in _record(Random(f"{seed}/{number}"), until, days):
                writers[table].writerow(row)
                rows[table] += 1
    return {file: rows[table] for table, file in files.items()}


def _record(random: Random, until: date, days: Days) -> Iterator[Tuple[str, Row]]:
    """Yield the table and the row of all that is recorded of one patient."""
    (first, last), patient = days, _patient(random, until)
    yield "patients", patient.row
    for _ in range(random.randrange(2, 18)):
        at = _time(random, max(patient.born, first), last)
        late = random.randrange((last - at.date()).days + 1)
        late = late if random.random() < LATE else 0
        visit = _visit(random, patient, at, until)
        twice = random.random() < DOUBLED
        if at.date() + timedelta(days=late) >= min(until, patient.died):
            continue
        for _ in range(2 if twice else 1):
            yield "encounters", visit.encounter
            yield from (("conditions", row) for row in visit.conditions)
            yield from (("observations", row) for row in visit.observations)


def _patient(random: Random, until: date) -> Patient:
    """Return a patient as known before a day: dead or married if that was before."""
    born = date(1925, 1, 1) + timedelta(days=random.randrange(36_500))
    adult = born + timedelta(days=18 * 365)
    married = adult + timedelta(days=random.randrange(12_000))
    died = born + timedelta(days=random.randrange(18_000, 38_000))
    marital = "" if adult >= until else "M" if married < until else "S"
    gender = random.choice("FM")
    race = random.choice(("white", "black", "asian", "native", "other"))
    ethnicity = random.choice(("nonhispanic", "nonhispanic", "hispanic"))
    known = [None if random.random() < EMPTY else v for v in (race, ethnicity, gender)]
    city, county, fips, postcode, north, east = random.choice(CITIES)
    number = random.randrange(1000)
    prefix = {"F": "Ms.", "M": "Mr."}[gender] if marital else ""
    row = [
        *(_id(random), born, died if died < until else None),
        f"999-{random.randrange(10, 99)}-{random.randrange(1000, 9999)}",
        *(f"S999{number:05}", f"X{number:08}X" if number % 3 else "", prefix),
        f"{random.choice(NAMES[gender])}{number}",
        f"{random.choice(NAMES[gender])}{number // 2}",
        *(f"{random.choice(FAMILIES)}{number}", "", "", marital, *known),
        *(f"{city}  Massachusetts  US", f"{number} Example Street", city),
        *("Massachusetts", county, fips, postcode),
        *(f"{north + random.random() / 50:.5f}", f"{east + random.random() / 50:.5f}"),
        *(_money(random, 900_000), _money(random, 500_000)),
        random.randrange(10_000, 200_000),
    ]
    return Patient(str(row[0]), born, died, row)


def _visit(random: Random, patient: Patient, at: datetime, until: date) -> Visit:
    kind, code, description, cost = random.choice(KINDS)
    is_symptom = description == SYMPTOM[2]
    reason = random.choice(ILLNESSES) if is_symptom and random.random() < 0.9 else None
    found = [reason] if reason else []
    if not is_symptom:
        found += random.sample(FINDINGS, random.choice((0, 0, 0, 1)))
    encounter = _id(random)
    here = (patient.id, encounter)
    row = [
        *(encounter, _text(at), _text(at + timedelta(minutes=15)), patient.id),
        *(_id(random), _id(random), _id(random), kind, code, description, cost),
        *(_money(random, 2_000), _money(random, 80), *(reason or ("", ""))),
    ]
    conditions = [_condition(random, here, at.date(), until, each) for each in found]
    measured = () if is_symptom else MEASURES[: random.randrange(4, len(MEASURES) + 1)]
    observations: List[Row] = [
        [
            *(_text(at), *here, "vital-signs", number, name),
            *(f"{random.uniform(low, high):.1f}", units, "numeric"),
        ]
        for number, name, units, low, high in measured
    ]
    if kind == "wellness":
        number, name, value = SMOKING
        observations.append(
            [
                _text(at),
                *here,
                "social-history",
                number,
                name,
                value,
                "{nominal}",
                "text",
            ]
        )
    return Visit(row, conditions, observations)


def _condition(
    random: Random,
    here: Tuple[str, str],
    start: date,
    until: date,
    found: Tuple[str, str],
) -> Row:
    end = start + timedelta(days=random.randrange(5, 40))
    return [
        start,
        end if end < until else None,
        *here,
        "http://snomed.info/sct",
        *found,
    ]


def _time(random: Random, since: date, until: date) -> datetime:
    days = max((until - since).days, 1)
    start = datetime(since.year, since.month, since.day)
    return start + timedelta(
        days=random.randrange(days), seconds=random.randrange(86_400)
    )


def _id(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _money(random: Random, most: int) -> str:
    return f"{random.randrange(100 * most) / 100:.2f}"


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main(sys.argv[1:])
