"""Column lineage against values that are followed through tables made in plain Python.

Each source column of a random spec has values that no other column has. A reading of
files, `tests/oracle` for current and history, and a join of versions for dimensions, none
of which knows of lineage, make the tables; the columns whose values turn up in a column
must be its origins.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Dict, Iterable, Iterator, List, Set, Tuple

import pytest

from lake_spec.lineage.columns import Edge, Field, Layer, layers_of, lineage_of, origins
from lake_spec.model import (
    Column,
    ColumnOrigin,
    ColumnUse,
    Csv,
    Dimension,
    DimensionTable,
    DomainSpec,
    Feed,
    FeedTable,
    History,
    Product,
    ProductInput,
    ProductPlan,
    ProductTable,
    Side,
    SnapshotTable,
    TableSpec,
)
from lake_spec.model import Layer as ModelLayer
from lake_spec.model.enrichment import Enrichment
from lake_spec.model.sources import Snapshot, SnapshotTime
from tests.kinds import one_by_day
from tests.oracle.dimension_oracle import Version, dimension_of
from tests.oracle.oracle import UPSERT, Delivery, Row
from tests.oracle.oracle import tables as tables_of
from tests.oracle.tables import settings_of

PATH = "(path)"
SNAPSHOT_TIME = "(snapshot time)"
FIRST = datetime(2026, 1, 1)
KEYS = range(3)

Values = Dict[str, Any]
Taint = Tuple[str, str]  # table and source column


@pytest.mark.parametrize("specs", one_by_day([25, 100]))
def test_random_specs_have_the_lineage_that_values_show(specs):
    for seed in range(specs):
        domain = random_domain(random.Random(seed))
        found = lineage_of(domain)
        for field, expected in followed(domain):
            named = {(f.table, f.column) for f in origins(found, field)}
            assert named == expected, (seed, field)


def test_a_wrong_edge_is_noticed():
    """A lineage that swaps two columns differs from what values show."""
    domain = random_domain(random.Random(1))
    found = lineage_of(domain)
    copied = [e for e in found if e.source.layer == Layer.SOURCE.value]
    swapped = {
        copied[0]: replace(copied[0], source=copied[1].source),
        copied[1]: replace(copied[1], source=copied[0].source),
    }
    wrong = [swapped.get(edge, edge) for edge in found]
    assert any(
        {(f.table, f.column) for f in origins(wrong, field)} != expected
        for field, expected in followed(domain)
    )


def test_columns_of_products_come_from_their_plans():
    origin = Field("shop.a", Layer.CURRENT.value, "n")
    edge = Edge(origin, Field("shop.p", Layer.CURRENT.value, "m"), "summed")
    columns = (ColumnOrigin("m", "input_0", "n", ColumnUse.SUMMED),)
    of = ProductInput("input_0", "shop.a", ModelLayer.CURRENT, ("n",))
    plan = ProductPlan("SELECT 1", (of,), "0f3a", "input_0", columns=columns)
    made = Product(sql="p.sql", plan=plan)
    product = ProductTable("p", "shop", "Made", "shop-data", made, ("m",))
    domain = DomainSpec("shop", "Shop", "shop-data", tables=(product,))
    assert lineage_of(domain) == (edge,)


@pytest.mark.parametrize(
    ("source", "copied"),
    [
        (Product(from_="crm.a", derive=(("year", "year(at)"),)), ["id", "name"]),
        (Product(sql="p.sql", reads=("crm.a",)), []),
    ],
)
def test_a_product_copies_the_columns_that_it_does_not_compute(source, copied):
    columns = dict.fromkeys(("id", "year", "name"), Column("int"))
    about = ("p", "shop", "Made", "shop-data", source, ("id",))
    product = ProductTable(*about, columns=tuple(columns.items()))
    found = lineage_of(DomainSpec("shop", "Shop", "shop-data", tables=(product,)))
    layer = Layer.CURRENT.value
    assert [(e.source, e.target) for e in found] == [
        (Field("crm.a", layer, name), Field("shop.p", layer, name)) for name in copied
    ]
    assert layers_of(product) == (layer,)


@pytest.mark.parametrize("column", ["valid_from", "version_key"])
def test_what_decides_a_value_is_derived(column):
    domain = random_domain(random.Random(3))
    kinds = {
        edge.kind
        for edge in lineage_of(domain)
        if edge.target == Field("shop.a", Layer.HISTORY.value, column)
    }
    assert kinds == {"derived"}


# --- random specs


def random_domain(seeded: random.Random) -> DomainSpec:
    """A reference table, two tables with the same key, and their dimension."""
    reference = feed(
        "r",
        {"code": Column("string", ("CODE",)), **columns(seeded, "r")},
        key=("code",),
    )
    a, b = main_table(seeded, "a", reference), main_table(seeded, "b", None)
    shown = [name for name in dict(b.columns) if name not in b.key]
    texts = [name for name in shown if dict(b.columns)[name].type == "string"]
    # One of them is text: the change of a time alone opens no version.
    more = seeded.sample(shown, seeded.randint(0, len(shown)))
    chosen = tuple(dict.fromkeys((texts[0], *more)))
    taken = set(dict(a.columns)) | {name for e in a.enrich for _, name in e.given}
    rename = tuple((name, f"b_{name}") for name in shown if name in taken)
    dimension = DimensionTable(
        name="d",
        domain="shop",
        description="Both",
        owner="shop-data",
        source=Dimension(Side("a"), Side("b", seeded.choice([(), chosen]), rename)),
        key=("id",),
    )
    return DomainSpec("shop", "Shop", "shop-data", tables=(reference, a, b, dimension))


def main_table(seeded: random.Random, name: str, reference: Any) -> TableSpec:
    own = {"id": Column("bigint", seeded.choice([(), ("ID",)]))}
    own.update(columns(seeded, name))
    is_snapshot = reference is None and seeded.random() < 0.3
    if not is_snapshot:
        own["ts"] = Column("timestamp", seeded.choice([(), ("TS",)]))
    effective = None
    if seeded.random() < 0.4:
        effective = "since"
        own["since"] = Column("timestamp")
    given: Tuple[Enrichment, ...] = ()
    if reference is not None and seeded.random() < 0.7:
        own["ref"] = Column("string", ("REF",))
        names = [n for n in dict(reference.columns) if n != "code"]
        picked = tuple(seeded.sample(names, seeded.randint(1, len(names))))
        given = (
            Enrichment(
                "r", (("ref", "code"),), picked, tuple((n, f"r_{n}") for n in picked)
            ),
        )
    table = feed(name, own, key=("id",), effective_at=effective)
    if is_snapshot:
        source = Snapshot(
            path=f"shop/{name}",
            files="*.csv",
            format=Csv(),
            snapshot_time=seeded.choice(
                [SnapshotTime(pattern="(.*)"), SnapshotTime(column="EXPORTED")]
            ),
        )
        about = (name, "shop", name, "shop-data", source, ("id",))
        columns_of = {"columns": table.columns, "effective_at": effective}
        return SnapshotTable(*about, **columns_of)
    return replace(table, source=replace(table.source, enrich=given))


def columns(seeded: random.Random, of: str) -> Dict[str, Column]:
    found = {}
    for n in range(seeded.randint(1, 5)):
        name = f"{seeded.choice(['x', of])}{n}"
        sources = [(), (f"{name.upper()}",), (f"{name}_new", f"{name}_old")]
        found[name] = Column("string", seeded.choice(sources))
    return found


def feed(name: str, own: Dict[str, Column], **more: Any) -> TableSpec:
    own = own if "ts" in own or name != "r" else {**own, "ts": Column("timestamp")}
    return FeedTable(
        name=name,
        domain="shop",
        description=name,
        owner="shop-data",
        source=Feed(path=f"shop/{name}", format=Csv()),
        columns=tuple(own.items()),
        order_by=("ts",),
        history=History(),
        **more,
    )


# --- values, followed


class Planted:
    """Values that no two source columns share, with the column that each belongs to."""

    def __init__(self) -> None:
        self.of: Dict[Any, Taint] = {}

    def text(self, taint: Taint) -> str:
        value = f"v{len(self.of)}"
        self.of[value] = taint
        return value

    def time(self, taint: Taint, hours: int) -> datetime:
        """A time in its order, whose microseconds no other has."""
        value = FIRST + timedelta(hours=hours, microseconds=len(self.of) + 1)
        self.of[value] = taint
        return value

    def found_in(self, values: Iterable[Any]) -> Set[Taint]:
        """The columns of these values; the time in a path is of none."""
        found = {self.of[value] for value in values if value is not None}
        return {taint for taint in found if taint[1] != PATH}


Made = Dict[str, Dict[int, Tuple[Row, List[Row]]]]
"""By table and number of its key: the row of current, and the versions."""


def followed(domain: DomainSpec) -> Iterator[Tuple[Field, Set[Taint]]]:
    """Give each column of current and history with the columns whose values it has."""
    planted = Planted()
    tables = {table.name: table for table in domain.tables}
    made: Made = {}
    for late, name in enumerate(("r", "a", "b")):
        made[name] = {n: loaded(tables[name], planted, n, 3 * late, made) for n in KEYS}
        current = [row.values for row, _ in made[name].values()]
        versions = [row for _, rows in made[name].values() for row in rows]
        for layer, rows in (
            ("current", current),
            ("history", [r.values for r in versions]),
        ):
            for column in rows[0]:
                if column != SNAPSHOT_TIME:
                    field = Field(f"shop.{name}", layer, column)
                    yield field, planted.found_in(row[column] for row in rows)
        keys = [(made[name][n][0].key[0]) for n in KEYS]
        yield Field(f"shop.{name}", "history", tables[name].key[0]), planted.found_in(
            keys
        )
        for end in ("valid_from", "valid_to"):
            times = planted.found_in(getattr(row, end) for row in versions)
            yield Field(f"shop.{name}", "history", end), times
    yield from followed_into_dimension(tables["d"], tables, made, planted)


def loaded(
    table: TableSpec, planted: Planted, number: int, late: int, made: Made
) -> Tuple[Row, List[Row]]:
    """Current and history of a key with two events, by the oracle."""
    key: Tuple[Any, ...] = ()
    deliveries = []
    for event in range(2):
        values = read(table, planted, number, 10 * event + late)
        for each in table.enrich:
            row = made[each.table][number][0]
            values.update((shown, row.values[name]) for name, shown in each.given)
        own = values.pop(table.key[0])
        key = key or (own,)
        if table.snapshot_time is not None:
            taint = (table.full_name, table.snapshot_time.column or PATH)
            values[SNAPSHOT_TIME] = planted.time(taint, 10 * event + late)
        landed = FIRST + timedelta(days=90)
        deliveries.append(Delivery(key, UPSERT, values, f"{event}.csv", 0, landed))
    settings = settings_of(table)
    settings = replace(settings, columns=tuple(deliveries[0].values))
    if table.snapshot_time is not None:
        settings = replace(
            settings, order_by=(SNAPSHOT_TIME,), first_time=SNAPSHOT_TIME
        )
    (current,), versions = tables_of(deliveries, settings)
    return current, versions


def read(table: TableSpec, planted: Planted, number: int, hours: int) -> Values:
    """Read a row of a file; each key comes by another one of a column's names."""
    values: Values = {}
    for column, of in table.columns:
        sources = of.source or (column,)
        taint = (table.full_name, sources[number % len(sources)])
        if of.type != "timestamp":
            values[column] = planted.text(taint)
        elif column == table.effective_at and number == 0:
            values[column] = None  # then the time of the order counts
        else:
            values[column] = planted.time(taint, hours)
    return values


def followed_into_dimension(
    table: TableSpec, tables: Dict[str, TableSpec], made: Made, planted: Planted
) -> Iterator[Tuple[Field, Set[Taint]]]:
    source = table.source
    shown = source.joined.columns or tuple(made["b"][0][0].values)
    renamed = dict(source.joined.rename)
    names = {n: renamed.get(n, n) for n in shown if n not in ("id", SNAPSHOT_TIME)}
    untracked = {renamed.get(n, n) for n in ("ts", "since")} | {"ts", "since"}
    found: List[Version] = []
    for n in KEYS:
        key = made["a"][n][0].key[0]
        main = [
            Version(r.valid_from, r.valid_to, {**r.values, "id": key})
            for r in made["a"][n][1]
        ]
        joined = [
            Version(
                r.valid_from, r.valid_to, {to: r.values[at] for at, to in names.items()}
            )
            for r in made["b"][n][1]
        ]
        columns = {*main[0].values, *names.values()}
        found += dimension_of(
            main, joined, joined_columns=names.values(), tracked=columns - untracked
        )
    for column in found[0].values:
        for layer in ("current", "history"):
            field = Field("shop.d", layer, column)
            rows = [v for v in found if layer == "history" or v.end is None]
            yield field, planted.found_in(v.values[column] for v in rows)
    for end, times in (
        ("valid_from", [v.start for v in found]),
        ("valid_to", [v.end for v in found]),
    ):
        yield Field("shop.d", "history", end), planted.found_in(times)
