"""The products of the clinic by DuckDB, from the exported files: a program of `.venv-readers`.

    python -m tests.readers.clinic FOLDER DATE

prints, for each product, its columns and its rows as texts, of the export of that date.
"""

from __future__ import annotations

import json
import sys
from typing import Sequence

import duckdb

DAY = """
    year(CAST({0} AS TIMESTAMP)) AS "year",
    month(CAST({0} AS TIMESTAMP)) AS "month",
    day(CAST({0} AS TIMESTAMP)) AS "day"
"""
PRODUCTS = {
    "symptom_encounters": f"""
SELECT DISTINCT * REPLACE (CAST(start AS TIMESTAMP) AS start, CAST(stop AS TIMESTAMP) AS stop),
    {DAY.format("start")}
FROM encounters
WHERE contains(description, 'Encounter for symptom') AND reasoncode <> ''
""",
    "daily_observations": f"""
SELECT DISTINCT * REPLACE (CAST(date AS TIMESTAMP) AS date), {DAY.format("date")}
FROM observations
""",
    "sinusitis_conditions": """
SELECT DISTINCT c.start, c.stop, c.patient, c.encounter, c.code, c.description,
    p.birthdate, p.marital, p.race, p.ethnicity, p.gender,
    date_diff('day', CAST(p.birthdate AS DATE), CAST(c.start AS DATE)) AS age_in_days
FROM conditions AS c, patients AS p
WHERE c.patient = p.id AND contains(lower(c.description), 'sinusitis')
    AND least(len(p.marital), len(p.race), len(p.ethnicity), len(p.gender)) > 0
""",
}


def main(argv: Sequence[str]) -> None:
    folder, until = argv
    connection = duckdb.connect()
    for table in ("patients", "encounters", "conditions", "observations"):
        file = f"{folder}/{table}/{table}_{until}.csv"
        read = connection.read_csv(file, header=True, all_varchar=True, na_values="\0")
        read.create_view(table)
    found = {}
    for product, sql in PRODUCTS.items():
        rows = connection.sql(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({sql})")
        found[product] = [[c.lower() for c in rows.columns], rows.fetchall()]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
