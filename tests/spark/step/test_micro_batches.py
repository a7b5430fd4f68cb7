"""What a round plays, in which order, and what it spares; stages are written down only."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lake_spec.model import Continuous, Enrichment, KafkaTopic, Product, ProductTable
from lake_spark.errors import LeaseLost, UnreadableFile
from lake_spark.step import continuous
from lake_spark.storage import timeline
from lake_spark.storage.lease_check import LeaseCheck
from lake_spark.storage.object_store import FolderStore
from tests.spark.batches import RUN, Batches, ask_to_stop
from tests.spark.leased import grant
from tests.unit.lake_airflow.specs import dimension, table

TABLES = (table("orders"), table("items"), dimension("both", "orders", "items"))
QUIET = []


class Catalog:
    """Counts how often what a round left in memory was let go."""

    def __init__(self):
        self.catalog, self.cleared = self, 0

    def clearCache(self):
        self.cleared += 1


class Stages:
    """What was tried, as `<table> <stage>`; by that, what it does to its run."""

    def __init__(self):
        self.tried, self.does = [], {}

    def __call__(self, run, stage):
        name = f"{run.spec.name} {stage.__name__}"
        self.tried.append(name)
        if name in self.does:
            self.does[name](run)

    def since(self):
        """What was tried since this was asked last."""
        tried, self.tried = self.tried, []
        return tried


def commits(run):
    run.report.commits["history"] = "20260101"


def fails(run):
    run.report.error = {"type": "PullFailed", "message": "no server"}


@pytest.fixture
def stages(monkeypatch):
    made = Stages()
    monkeypatch.setattr(continuous, "run_stage", made)
    return made


def land(root, name):
    file = root / "landing" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")


@pytest.fixture
def batches(tmp_path, stages):
    return Batches(Catalog(), tmp_path, TABLES)


def test_tables_of_files_come_first_and_then_their_dimensions(batches, stages):
    assert batches.next_round() is None
    tried = stages.since()
    for name in ("orders", "items"):
        mine = [each for each in tried if each.startswith(name)]
        assert mine == [f"{name} incremental", f"{name} scd2"]
    assert tried[-1] == "both dimension"
    assert batches._run.spark.cleared == 1


def test_tables_that_are_given_values_come_after_those_that_give_them(tmp_path, stages):
    given = Enrichment(table="items", by=(("item", "id"),), columns=("name",))
    orders = replace(TABLES[0], source=replace(TABLES[0].source, enrich=(given,)))
    Batches(Catalog(), tmp_path, (orders, TABLES[1])).next_round()
    tried = stages.since()
    assert tried.index("items scd2") < tried.index("orders incremental")


def test_a_round_without_anything_new_asks_for_a_listing_alone(
    batches, stages, tmp_path
):
    batches.next_round()
    stages.since()
    batches.next_round()
    assert stages.since() == QUIET
    land(tmp_path, "sales/items/changes/1.csv")
    stages.does["items incremental"] = commits
    batches.next_round()
    assert stages.since() == ["items incremental", "items scd2", "both dimension"]
    batches.next_round()
    assert stages.since() == QUIET


def test_a_dimension_waits_for_a_commit_of_its_tables(batches, stages, tmp_path):
    batches.next_round()
    stages.since()
    land(tmp_path, "sales/items/changes/notes.txt")  # which no table ingests
    batches.next_round()
    assert stages.since() == ["items incremental", "items scd2"]


def product(name, *reads):
    source = Product(sql=f"{name}.sql", reads=reads)
    return ProductTable(name, "sales", "Made of others", "sales-data", source, ("id",))


def test_products_follow_what_they_read_when_that_committed(tmp_path, stages):
    products = (product("top", "sales.rich"), product("rich", "sales.both"))
    batches = Batches(Catalog(), tmp_path, (*products, *TABLES))
    batches.next_round()
    assert stages.since()[-3:] == ["both dimension", "rich product", "top product"]
    land(tmp_path, "sales/items/changes/1.csv")
    stages.does = {"items incremental": commits, "both dimension": commits}
    batches.next_round()
    assert stages.since()[2:] == ["both dimension", "rich product"]


def test_a_product_of_a_table_of_another_domain_is_looked_at_in_every_round(
    tmp_path, stages
):
    batches = Batches(Catalog(), tmp_path, (product("rich", "crm.customer"), *TABLES))
    batches.next_round(), stages.since()
    batches.next_round()
    assert stages.since() == ["rich product"]


def test_what_failed_is_tried_in_the_next_round_although_nothing_landed(
    batches, stages
):
    stages.does = {"orders scd2": fails, "both dimension": fails}
    batches.next_round()
    stages.since(), stages.does.clear()
    batches.next_round()
    assert stages.since() == ["orders incremental", "orders scd2", "both dimension"]
    assert [each.state for each in batches.ended()] == ["nothing_new"] * 3


def test_a_table_that_pulls_is_asked_in_every_round(tmp_path, stages):
    topic = KafkaTopic(connection="events", topic="orders")
    pulled = replace(TABLES[0], source=replace(TABLES[0].source, changes_from=topic))
    batches = Batches(Catalog(), tmp_path, (pulled, TABLES[1]))
    batches.next_round()
    stages.since()
    batches.next_round()
    assert stages.since() == ["orders incremental", "orders scd2"]


def test_three_failures_of_a_table_in_a_row_end_the_run(batches, stages):
    stages.does["items incremental"] = fails
    assert [batches.next_round() for _ in range(2)] == [None, None]
    assert batches.next_round() == "items failed in 3 micro-batches in a row"
    states = {each.table: each.state for each in batches.ended()}
    assert states == {"orders": "nothing_new", "items": "failed", "both": "nothing_new"}


def test_two_failures_and_a_good_round_do_not(batches, stages):
    stages.does["items incremental"] = fails
    batches.next_round(), batches.next_round()
    stages.does.clear()
    batches.next_round()
    stages.does["items incremental"] = fails
    assert [batches.next_round() for _ in range(2)] == [None, None]


def test_files_that_are_bad_are_remembered_until_the_maintenance(
    batches, stages, monkeypatch
):
    known = []

    def remembers(run):
        known.append(dict(run.earlier.known_bad))
        run.earlier.known_bad["b.csv", "etag"] = UnreadableFile, "cut"

    stages.does["orders incremental"] = remembers
    stages.does["orders scd2"] = fails  # so that it comes again
    batches.next_round(), batches.next_round()
    assert known == [{}, {("b.csv", "etag"): (UnreadableFile, "cut")}]
    stages.does["orders scd2"] = commits
    monkeypatch.setattr(continuous, "MAINTENANCE_EVERY", 0)
    stages.since()
    batches.next_round()
    assert known[-1] == {}
    assert stages.since()[-2:] == ["both dimension", "both maintenance"]


def test_the_catalogue_is_asked_first_and_after_failures_and_with_the_maintenance(
    batches, stages, monkeypatch
):
    known = []
    stages.does["orders incremental"] = lambda run: known.append(
        run.earlier.is_registered
    )
    stages.does["orders scd2"] = fails
    batches.next_round(), stages.does.pop("orders scd2")
    batches.next_round()
    land(batches.root, "sales/orders/changes/1.csv")
    batches.next_round()
    monkeypatch.setattr(continuous, "MAINTENANCE_EVERY", 0)
    batches.next_round()
    assert known == [False, False, True, False]


def test_a_maintenance_run_that_failed_is_due_again(batches, stages, monkeypatch):
    batches.next_round()
    monkeypatch.setattr(continuous, "MAINTENANCE_EVERY", 0)
    stages.does["orders maintenance"] = fails
    assert [batches.next_round() for _ in range(3)][-1] == (
        "orders failed in 3 micro-batches in a row"
    )


def test_a_dry_run_has_one_round(tmp_path, stages):
    batches = Batches(Catalog(), tmp_path, TABLES, dry_run=True)
    reports = batches.play(Continuous())
    assert [each.state for each in reports] == ["dry_run"] * 3
    assert stages.since().count("orders incremental") == 1


def test_the_object_stop_ends_the_run_after_its_round(
    batches, stages, tmp_path, capsys
):
    stages.does["orders incremental"] = lambda run: ask_to_stop(batches.root)
    reports = batches.play(Continuous(every_seconds=3600))
    assert [each.state for each in reports] == ["nothing_new"] * 3
    told = 'LAKE sales continuous: ended: asked to stop: { "by": "tests_reprocess/2" }'
    assert told in capsys.readouterr().out
    assert json.loads(batches.told("orders"))["state"] == "nothing_new"


def test_what_was_asked_before_the_step_began_is_forgotten(batches, stages):
    ask_to_stop(batches.root)
    seen = []
    stages.does["orders incremental"] = lambda run: seen.append(batches.asked_to_stop())
    stages.does["both dimension"] = lambda run: ask_to_stop(batches.root)
    batches.play(Continuous(every_seconds=3600))
    assert seen == [None]
    assert batches.asked_to_stop()


def test_a_run_whose_domain_was_leased_to_another_one_writes_no_more(
    batches, stages, tmp_path
):
    runs = f"file://{tmp_path}/runs"
    batches._run.check_lease = LeaseCheck(FolderStore(), runs, "sales", RUN, 1)
    grant(tmp_path, RUN, 1, domain="sales")
    batches.next_round()
    stages.since()
    grant(tmp_path, "sales_reprocess/2", 2, domain="sales")
    with pytest.raises(LeaseLost, match="names the run sales_reprocess/2"):
        batches.next_round()
    assert stages.since() == QUIET


def test_a_folder_that_cannot_be_listed_is_left_to_the_stage_to_tell(
    batches, stages, monkeypatch
):
    batches.next_round()
    stages.since()
    monkeypatch.setattr(type(batches._run.store), "list", lambda *_: 1 / 0)
    batches.next_round()
    assert sorted(stages.since()) == [
        "items incremental",
        "items scd2",
        "orders incremental",
        "orders scd2",
    ]


def test_what_is_remembered_of_commits_has_a_limit(monkeypatch):
    monkeypatch.setattr(timeline, "KNOWN_COMMITS", {})
    monkeypatch.setattr(timeline.Timeline, "metadata_of", lambda *_: {"run": RUN})
    hours = object.__new__(timeline.Timeline)
    hours._path = "file:///t"
    for number in range(2 * timeline.MOST_COMMITS):
        at = SimpleNamespace(requestedTime=lambda: str(number))
        assert hours._commit(at, None).instant == str(number)
    assert len(timeline.KNOWN_COMMITS) <= timeline.MOST_COMMITS
