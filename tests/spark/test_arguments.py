"""What a step can be asked to do; the rest is a usage error with exit code 2."""

import pytest

from lake_spec.model import Engine
from lake_spark.application import STAGES, chosen_tables
from lake_spark.arguments import parse
from lake_spark.table_run import Accepted, Selection
from tests.unit.lake_airflow.specs import dimension, domain, table

STEP = ["--release", "r", "--domain", "shop", "--run", "shop_incremental/1", "--stage"]


def test_losses_are_accepted_where_extracts_are_taken(capsys):
    asked = parse([*STEP, "incremental", "--accept-losses"], list(STAGES))
    assert asked.accepted == Accepted(losses=True)
    assert parse([*STEP, "incremental"], list(STAGES)).accepted == Accepted()
    with pytest.raises(SystemExit) as ended:
        parse([*STEP, "rebuild", "--accept-losses"], list(STAGES))
    assert ended.value.code == 2
    assert "--accept-losses goes with --stage incremental" in capsys.readouterr().err


def test_a_redo_is_told_which_files(capsys):
    more = ["--file=a/*.csv", "--file=-b", "--quarantined", "--withdraw-missing"]
    asked = parse([*STEP, "redo", *more], list(STAGES))
    assert asked.selection == Selection(("a/*.csv", "-b"), True, True)
    window = parse([*STEP, "redo", "--window", "2026-01-01.."], list(STAGES))
    assert window.selection == Selection()
    for wrong, told in (
        (["redo"], "redo: give at least one of --window, --file, --quarantined"),
        (["redo", "--withdraw-missing"], "give at least one of"),
        (["incremental", "--file=a"], "for redo, not incremental"),
        (["redo", "--file=/a"], "'/a' is no path or glob below"),
    ):
        with pytest.raises(SystemExit) as ended:
            parse([*STEP, *wrong], list(STAGES))
        assert ended.value.code == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "stage, tables",
    [
        ("incremental", ["orders", "clicks"]),
        ("prepare_incremental", ["clicks"]),
        ("scd2", ["orders", "clicks"]),
        ("dimension", ["dim"]),
        ("maintenance", ["orders", "clicks", "dim"]),
        ("rebuild", ["orders", "clicks"]),
        ("redo", ["orders", "clicks"]),
        ("rebuild_dimension", ["dim"]),
    ],
)
def test_a_stage_takes_the_tables_that_it_is_for(stage, tables):
    shop = domain(
        table("orders"),
        table("clicks", Engine.STREAMER),
        dimension("dim", "orders", "clicks"),
    )
    more = ["--quarantined"] if stage == "redo" else []
    chosen = chosen_tables(shop, parse([*STEP, stage, *more], list(STAGES)))
    assert [each.name for each in chosen] == tables
