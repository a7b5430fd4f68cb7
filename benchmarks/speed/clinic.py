"""Target 19: products of the clinic with one file for each day, against Spark's own write.

Hand-written PySpark makes the same rows of the same tables, and Parquet files of the same
codec, order and folders. Ours are plain Parquet, and tables of Hudi. Nobody may leave a day
out, or a second file in one.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Dict, List, Tuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from data.synthea import generate
from lake_check.parsing.loader import load_domain
from lake_desk.products.plans import with_plans
from lake_spec.model import TableType
from benchmarks.speed.bench import Bench
from benchmarks.speed.comparing import compared
from benchmarks.speed.measuring import Work, Works, alternating, say
from benchmarks.speed.result import Result
from benchmarks.speed.sources import ROOT
from tests.spark.lake import Lake

TABLES = ROOT / "data" / "synthea" / "tables"
UNTIL = date(2026, 1, 1)
PATIENTS, DAYS = 154_000, 10_433
"""They have 1.28 million encounters and 5.38 million observations, some on each day."""

PRODUCTS = {
    ("19", "19b"): ("daily_observations", "observations"),
    ("19a", "19c"): ("symptom_encounters", "encounters"),
}
"""By the ids of plain Parquet and of Hudi: the product and the table that it is made of."""
TARGET = 1.3
"""Of plain Parquet."""


def stored_as(lake: Lake, kind: TableType) -> Lake:
    """Return the same table, stored otherwise: at the same place."""
    storage = replace(lake.spec.storage, type=kind)
    spec = replace(lake.spec, storage=storage)
    return Lake(lake.spark, lake.root, spec, lake.domain)


@dataclass(frozen=True)
class Daily:
    """A product with one file for each day, and the table that it is made of."""

    bench: Bench
    product: Lake
    source: Lake

    @property
    def days(self) -> List[str]:
        """The columns of its folders."""
        return list(self.product.spec.storage.partition_by)

    @property
    def home(self) -> Path:
        """The folder of its tables."""
        return self.product.root / "warehouse" / "clinic" / self.product.spec.name

    def rows(self) -> DataFrame:
        """Its rows, as PySpark reads and makes them."""
        spec = self.product.spec
        read = self.bench.spark.read.format("hudi").load(
            self.source.tables.current.path
        )
        kept = read.where(spec.source.where or "true")
        made = kept.withColumns({n: F.expr(e) for n, e in spec.source.derive})
        return made.select([name for name, _ in spec.columns])

    def write(self, folder: Path) -> None:
        """Write them as PySpark does: each day to one task, and sorted in its file."""
        order = [*self.days, *self.product.spec.storage.sort_by]
        rows = self.rows().repartition(*self.days).sortWithinPartitions(*order)
        writer = rows.write.option("compression", "zstd").partitionBy(*self.days)
        writer.parquet(str(folder))

    def works(self, nth: int) -> Works:
        """The product built whole in both ways, and what PySpark writes, in turns."""
        folder = self.bench.unused("written")
        written = Work(
            lambda: self.write(folder), check=lambda: self._check_written(folder)
        )
        ours = {
            "plain": self._built(TableType.PARQUET),
            "hudi": self._built(TableType.COPY_ON_WRITE),
        }
        return alternating(nth, ours, {"theirs": written})

    def _built(self, kind: TableType) -> Work:
        lake = stored_as(self.product, kind)

        def check() -> None:
            folder = Path(lake.tables.current.path.partition("://")[2])
            if lake.spec.storage.is_plain:
                folder /= lake.tables.current.last_commit().instant
            self._check(folder, lake.current)
            # Now, as what the other side wrote: thousands of files take the file system
            # some time to forget, which the work after it pays for.
            shutil.rmtree(self.home)

        return Work(lambda: lake.done("product"), check=check)

    def _check_written(self, folder: Path) -> None:
        self._check(folder, self.bench.spark.read.parquet(str(folder)))
        shutil.rmtree(folder)

    def _check(self, folder: Path, rows: DataFrame) -> None:
        """Each day has one file, and no row is missing or there twice."""
        files = list(folder.glob("*=*/" * len(self.days) + "*.parquet"))
        found = len({file.parent for file in files}), len(files), rows.count()
        days, count = self.expected
        assert found == (days, days, count), f"{folder}: {found} for {days}, {count}"

    @cached_property
    def expected(self) -> Tuple[int, int]:
        """How many days there are, and how many rows."""
        rows = self.rows()
        return rows.select(*self.days).distinct().count(), rows.count()


def products(bench: Bench) -> List[Result]:
    """19: a product with one file for each day, built whole / hand-written PySpark."""
    lakes = _loaded(bench)
    found = []
    for (plain, hudi), (product, source) in PRODUCTS.items():
        daily = Daily(bench, lakes[product], lakes[source])
        took = bench.meter.in_turns(daily.works, bench.pairs)
        days, rows = daily.expected
        read = lakes[source].current.count()
        what = (
            f"{product} as {{}}: {rows:,} rows of {read:,} {source} into one file for"
            f" each of {days:,} days / hand-written PySpark"
        )
        sides = took["theirs"]
        words = what.format("plain Parquet")
        found.append(compared(plain, words, took["plain"], sides, TARGET))
        words = what.format("Hudi")
        found.append(compared(hudi, words, took["hudi"], sides, None))
    return found


def _loaded(bench: Bench) -> Dict[str, Lake]:
    """Lakes of the clinic's tables, with the sources of the products loaded."""
    size, days = bench.sized(PATIENTS, least=500), bench.sized(DAYS, least=30)
    say(f"records of {size:,} patients on {days:,} days")
    planned = with_plans([load_domain("clinic", TABLES)], TABLES)[0].tables
    root = bench.unused("clinic")
    lakes = {spec.name: Lake(bench.spark, root, spec, planned) for spec in planned}
    landing, first = root / "landing" / "clinic", UNTIL - timedelta(days=days)
    generate.write(size, bench.seed, UNTIL, landing, (first, UNTIL))
    for _, source in PRODUCTS.values():
        lakes[source].done("full_load")
    return lakes
