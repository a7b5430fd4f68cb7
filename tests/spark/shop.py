"""The lake of tests of dimensions: customers, their addresses, two dimensions of them.

Customers come as a feed, addresses as snapshots; both were loaded with rows that
hold since 1900. Ids below 100 are told one by one (by the test), those above are
random. The oracle makes the dimension from both histories as they stand.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from pyspark.sql import SparkSession

from lake_spec.model import TableSpec
from lake_check.parsing.loader import load_domain
from tests.oracle.dimension_oracle import Version, dimension_of
from tests.spark.lake import DOMAIN, Lake

SHARED = """
name: {name}
description: A table of the test of dimensions
owner: test-team
key: [id]
"""
CUSTOMER = """
source:
  kind: feed
  path: tests/customer
  format: {type: csv}
  operation: {column: op}
columns: {id: int, name: string, updated_at: timestamp}
order_by: [updated_at]
load_effective_at: "1900-01-01"
history: {open_end: "9999-12-31", deletes: tombstone}
storage: {buckets: 1}
"""
ADDRESS = """
source:
  kind: snapshot
  path: tests/address
  files: "*.csv"
  format: {type: csv}
  snapshot_time: {pattern: "^(.*)[.]csv$"}
columns: {id: int, city: string, note: string, moved_at: timestamp}
effective_at: moved_at
load_effective_at: "1900-01-01"
history: {open_end: "9999-12-31"}
storage: {buckets: 1}
"""
DIMENSION = """
source:
  kind: dimension
  main: customer
  joined: {table: address, columns: [city, moved_at], rename: {city: town}}
"""
CLOSED = """
history: {open_end: "9999-12-31"}
storage: {buckets: 1}
maintenance: {cluster_after: 4}
"""
MERGED = """
history: {open_end: "9999-12-31", deletes: tombstone}
current: {deletes: soft}
storage: {type: merge_on_read, buckets: 1}
maintenance: {compact_after: 1, cluster_after: 4}
"""
SPECS = {
    "customer": CUSTOMER,
    "address": ADDRESS,
    "dim_customer": DIMENSION + CLOSED,
    "dim_merged": DIMENSION + MERGED,
}
DIMENSIONS = ("dim_customer", "dim_merged")
SNAPSHOT_DAYS = ("2026-01-01", "2026-01-10", "2026-01-20")
RANDOM = range(100, 350)
SEED = 14
OPEN_END = datetime(9999, 12, 31)


def domain_of(folder: Path) -> Sequence[TableSpec]:
    """The specs of all tables, as files of that folder."""
    home = folder / "tests"
    home.mkdir(parents=True)
    (home / "_domain.yml").write_text(DOMAIN)
    for name, text in SPECS.items():
        (home / f"{name}.yml").write_text(SHARED.format(name=name) + text)
    return load_domain("tests", folder).tables


class Shop:
    """The lakes of the tables of one domain, below one folder."""

    def __init__(
        self, spark: SparkSession, root: Path, domain: Sequence[TableSpec]
    ) -> None:
        self.root = root
        self.lakes = {spec.name: Lake(spark, root, spec, domain) for spec in domain}
        self._random = random.Random(SEED)

    def redefined(self, name: str, **changes: Any) -> "Shop":
        """The same lakes with other settings of one table."""
        specs = {each: lake.spec for each, lake in self.lakes.items()}
        specs[name] = replace(specs[name], **changes)
        return Shop(self.lakes[name].spark, self.root, list(specs.values()))

    def land_customers(self, path: str, header: str, rows: str) -> None:
        """Told rows, and up to three random changes of each random id."""
        header = f"op,id,name,updated_at{header}\n"
        more = self._loaded() if path.startswith("load/") else self._changes(header)
        self.lakes["customer"].land(path, header + rows + more)

    def _loaded(self) -> str:
        ids = [id for id in RANDOM if self._random.random() < 0.5]
        return "".join(f",{id},a,2022-07-01\n" for id in ids)

    def _changes(self, header: str) -> str:
        rest = "," * (header.count(",") - 3)
        days = ("03", "08", "10", "12", "20", "24")  # among them days of snapshots
        pick = self._random.choice
        return "".join(
            f"{pick('UUD')},{id},{pick('ab')},2026-01-{pick(days)}{rest}\n"
            for id in RANDOM
            for _ in range(self._random.randrange(3))
        )

    def land_addresses(self, day: str, rows: Mapping[int, str]) -> None:
        """A snapshot: told rows (`city,note,moved_at`) and some of the random ids."""
        pick = self._random.choice
        told = [f"{id},{row}\n" for id, row in rows.items()]
        told += [
            f"{id},{pick('xy')},{pick('mn')},{pick(('', '2026-01-08', '2026-01-12'))}\n"
            for id in RANDOM
            if self._random.random() < 0.7
        ]
        self.lakes["address"].land(
            f"{day}.csv", "id,city,note,moved_at\n" + "".join(told)
        )

    def bring_up(self, *stages: str, tables: Sequence[str] = ("customer", "address")):
        """Run stages of the tables, then the dimensions; the reports of these."""
        for name in tables:
            self.lakes[name].done(*stages)
        return [self.lakes[name].done("dimension")[0] for name in DIMENSIONS]

    def expected(self, tracked: Sequence[str] = ()) -> Dict[int, List[Version]]:
        """The dimension by id, as the oracle makes it."""
        names = [n for n in ("name", "updated_at", "phone") if self._has(n)]
        customers = versions_of(self.lakes["customer"], {name: name for name in names})
        shown = {"city": "town", "moved_at": "moved_at"}
        addresses = {}
        if self.lakes["address"].tables.history.has_data():
            addresses = versions_of(self.lakes["address"], shown)
        return {
            id: dimension_of(
                versions,
                addresses.get(id, []),
                joined_columns=list(shown.values()),
                tracked=tracked or [n for n in (*names, "town") if n != "updated_at"],
            )
            for id, versions in customers.items()
        }

    def _has(self, column: str) -> bool:
        return column in self.lakes["customer"].history.columns

    def mismatches(self, name: str, tracked: Sequence[str] = ()) -> List[int]:
        """Ids whose versions or whose current row are not those of the oracle."""
        lake, wanted = self.lakes[name], self.expected(tracked)
        columns = list(next(iter(wanted.values()))[0].values)
        made = versions_of(lake, {column: column for column in columns})
        wrong = [id for id in {*made, *wanted} if made.get(id) != wanted.get(id)]
        current = lake.current
        if "is_deleted" in current.columns:
            current = current.where("NOT is_deleted")
        rows = current.select("id", *columns).collect()
        living = {row.id: {name: row[name] for name in columns} for row in rows}
        open_rows = {
            id: versions[-1].values
            for id, versions in wanted.items()
            if versions[-1].end is None
        }
        ids = {*living, *open_rows}
        return wrong + [id for id in ids if living.get(id) != open_rows.get(id)]


def versions_of(lake: Lake, shown: Mapping[str, str]) -> Dict[int, List[Version]]:
    """A history by id, in order, without markers; columns as (name, name to show)."""
    found = defaultdict(list)
    rows = lake.history.where("NOT is_deleted").orderBy("id", "valid_from").collect()
    for row in rows:
        assert (row.valid_to == OPEN_END) == row.is_current
        end = None if row.is_current else row.valid_to
        values = {name: row[column] for column, name in shown.items()}
        found[row.id].append(Version(row.valid_from, end, values))
    return found
