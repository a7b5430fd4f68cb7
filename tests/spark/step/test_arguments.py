"""What a step can be asked to do; the rest is a usage error with exit code 2."""

import hashlib
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lake_spec.model import Engine
from lake_spec.model.continuous import CONTINUOUS
from lake_spec.model.json_codec import to_data
from lake_spark.ingest.reprocess import Selection
from lake_spark.step.application import (
    Release,
    STAGES,
    chosen_tables,
    end_request,
    load_release,
)
from lake_spark.step.arguments import parse
from lake_spark.storage.object_store import FolderStore
from lake_spark.tables.table_run import Accepted
from tests.unit.lake_airflow.specs import ENVIRONMENT, dimension, domain, table

STEP = [
    "--release",
    "r",
    "--region",
    "eu-west-1",
    "--domain",
    "shop",
    "--run",
    "shop_incremental/1",
]
STEP += ["--lease-token", "1", "--stage"]


def test_losses_are_accepted_where_snapshots_are_taken(capsys):
    accepting = ["--accept-losses", "--empty-scopes", '["us"]']
    asked = parse([*STEP, "incremental", *accepting], list(STAGES))
    assert asked.accepted == Accepted(losses=True, empty_scopes=("us",))
    assert parse([*STEP, "incremental"], list(STAGES)).accepted == Accepted()
    with pytest.raises(SystemExit) as ended:
        parse([*STEP, "rebuild", "--accept-losses"], list(STAGES))
    assert ended.value.code == 2
    assert (
        "--accept-losses goes with --stage incremental or reprocess"
        in capsys.readouterr().err
    )


def test_a_step_of_products_takes_partitions(capsys):
    more = ["--partition=year=2026/month=1", "--partition=year=2025"]
    asked = parse([*STEP, "product", *more], list(STAGES))
    assert asked.options.partitions == ("year=2026/month=1", "year=2025")
    assert parse([*STEP, "product"], list(STAGES)).options.partitions == ()
    for wrong, words in (
        (["rebuild_product", "--partition=year=1"], "goes with --stage product"),
        (["product", "--partition=2026"], "got '2026'. Give folders of"),
    ):
        with pytest.raises(SystemExit) as ended:
            parse([*STEP, *wrong], list(STAGES))
        assert ended.value.code == 2
        assert words in capsys.readouterr().err


def test_a_reprocess_is_told_which_files(capsys):
    more = ["--file=a/*.csv", "--file=-b", "--quarantined", "--retract-missing"]
    asked = parse([*STEP, "reprocess", *more], list(STAGES))
    assert asked.selection == Selection(("a/*.csv", "-b"), True, True)
    window = parse([*STEP, "reprocess", "--window", "2026-01-01.."], list(STAGES))
    assert window.selection == Selection()
    for wrong, told in (
        (
            ["reprocess"],
            "reprocess: give at least one of --window, --file, --quarantined",
        ),
        (["reprocess", "--retract-missing"], "give at least one of"),
        (["reprocess", "--window", ".."], "give at least one of"),
        (["incremental", "--file=a"], "--file goes with --stage reprocess"),
        (["reprocess", "--file=/a"], "got '/a'. Give paths or globs below"),
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
        ("reprocess", ["orders", "clicks"]),
        ("rebuild_dimension", ["dim"]),
        ("erase", ["orders", "clicks"]),
        ("continuous", ["orders", "clicks", "dim"]),
    ],
)
def test_a_stage_takes_the_tables_that_it_is_for(stage, tables):
    shop = domain(
        table("orders"),
        table("clicks", Engine.STREAMER),
        dimension("dim", "orders", "clicks"),
    )
    more = {"reprocess": ["--quarantined"], "erase": ["--request", "r"]}.get(stage, [])
    stages = [*STAGES, CONTINUOUS]
    chosen = chosen_tables(shop, parse([*STEP, stage, *more], stages))
    assert [each.name for each in chosen] == tables


@pytest.mark.parametrize("text", ["us", "[1]", '{"us": 1}'])
def test_empty_scopes_are_a_list_of_texts(text, capsys):
    with pytest.raises(SystemExit):
        parse([*STEP, "incremental", "--empty-scopes", text], list(STAGES))
    assert "argument --empty-scopes: got " in capsys.readouterr().err


@pytest.mark.parametrize("share", ["0", "1.1", "-1", "all", "nan"])
def test_a_rebuild_verifies_a_share_of_the_keys(capsys, share):
    stages = list(STAGES)
    assert parse([*STEP, "rebuild", "--verify", "0.25"], stages).options.verify == 0.25
    assert parse([*STEP, "rebuild"], stages).options.verify is None
    for wrong in (["rebuild", "--verify", share], ["scd2", "--verify", "1"]):
        with pytest.raises(SystemExit) as ended:
            parse([*STEP, *wrong], stages)
        assert ended.value.code == 2
    told = capsys.readouterr().err
    assert f"argument --verify: got '{share}'. Give a number above 0" in told
    assert "--verify goes with --stage rebuild or rebuild_product" in told


def test_what_follows_a_verification_verifies_too_or_does_not_verify():
    argv = [*STEP, "rebuild", "--verify", "0.25", "--then", "rebuild_product"]
    stages = [
        (each.stage, each.options.verify) for each in parse(argv, STAGES).in_turn()
    ]
    assert stages == [("rebuild", 0.25), ("rebuild_product", 0.25)]


def test_an_erase_is_told_the_name_of_its_request(capsys):
    stages = list(STAGES)
    asked = parse([*STEP, "erase", "--request", "gdpr-7"], stages)
    assert asked.options.request == "gdpr-7"
    for wrong in (["erase"], ["scd2", "--request", "a"], ["erase", "--request", "a/b"]):
        with pytest.raises(SystemExit) as ended:
            parse([*STEP, *wrong], stages)
        assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "erase: --request is missing" in told
    assert "--request goes with --stage erase" in told
    assert "Give the name of the object" in told and "a/b" not in told


def test_a_receipt_takes_the_place_of_a_request_when_all_its_tables_are_done(
    tmp_path, monkeypatch
):
    removed = []
    monkeypatch.setattr(
        FolderStore, "delete_old_versions", lambda _, uri: removed.append(uri)
    )
    environment = replace(ENVIRONMENT, runs=f"file://{tmp_path}")
    shop = Release("r", environment, domain(table("orders"), table("clicks")))
    asked = parse([*STEP, "erase", "--request", "gdpr-7"], list(STAGES))
    file = tmp_path / "erase" / "shop" / "gdpr-7.json"
    file.parent.mkdir(parents=True)
    request = {"keys": {name: [{"id": 7}] for name in ("orders", "clicks")}}
    file.write_text(json.dumps(request))

    done = [SimpleNamespace(spec=each) for each in shop.domain.tables]
    end_request(FolderStore(), shop, asked, done[:1])
    assert json.loads(file.read_text()) == request and removed == []
    end_request(FolderStore(), shop, asked, done)
    counted = {"orders": 1, "clicks": 1}
    receipt = {"format": 1, "erased": counted, "run": "shop_incremental/1"}
    assert json.loads(file.read_text()) == receipt
    end_request(FolderStore(), shop, asked, done)
    assert json.loads(file.read_text()) == receipt
    uri = file.as_uri()
    assert removed == [uri, uri], "a killed run may have left those of the request"


def test_a_pull_begins_where_a_value_of_its_cursor_says(capsys):
    asked = parse([*STEP, "incremental", "--pull-from=-5"], list(STAGES))
    assert asked.accepted.pull_from == "-5"
    with pytest.raises(SystemExit):
        parse([*STEP, "incremental", "--pull-from=1; DROP"], list(STAGES))
    assert "Give a value of the cursor" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parse([*STEP, "scd2", "--pull-from=5"], list(STAGES))
    assert (
        "--pull-from goes with --stage incremental or prepare_incremental"
        in capsys.readouterr().err
    )


def test_the_stages_that_follow_get_tables_and_window_but_no_choice_of_files(capsys):
    argv = ["reprocess", "--then", "scd2,dimension", "--tables", "orders,dim"]
    asked = parse([*STEP, *argv, "--file", "a.csv", "--dry-run"], list(STAGES))
    turns = list(asked.in_turn())
    assert [each.stage for each in turns] == ["reprocess", "scd2", "dimension"]
    assert [each.selection.globs for each in turns] == [("a.csv",), (), ()]
    assert all(each.options.dry_run for each in turns)
    assert all(each.options.tables == ("orders", "dim") for each in turns)
    with pytest.raises(SystemExit):
        parse([*STEP, "incremental", "--then", "erase"], list(STAGES))
    assert "--then erase: choose from scd2" in capsys.readouterr().err


@pytest.fixture
def spec(tmp_path):
    """The spec of a release in a folder, and what asks for a step with it."""
    place, shop = to_data(ENVIRONMENT), to_data(domain(table("orders")))
    content = {"release": "r", "environment": place, "domain": shop}
    file = tmp_path / "specs" / "shop.json"
    file.parent.mkdir()
    file.write_text(json.dumps(content))

    def asked(*more):
        argv = ["--release", tmp_path.as_uri(), *STEP[2:], "scd2", *more]
        return parse(argv, list(STAGES))

    return file, asked


def test_a_step_reads_the_spec_that_airflow_told_it_of(spec):
    file, asked = spec
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    told = f"lake.zip={'0' * 64},specs/shop.json={sha256}"
    assert load_release(asked("--sha256", told)).id == "r"
    assert load_release(asked()).id == "r"  # a run that an older release began


def test_a_step_refuses_a_spec_with_another_content(spec):
    file, asked = spec
    text = file.read_text()
    expected = hashlib.sha256(text.encode()).hexdigest()
    file.write_text(text.replace('"r"', '"s"'))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(SystemExit) as ended:
        load_release(asked("--sha256", f"specs/shop.json={expected}"))
    assert str(ended.value) == (
        f"{file.as_uri()} is not that of the release: its SHA-256 is {found}, expected "
        f"{expected}. Somebody replaced it: find out who, delete the object, and deploy "
        "the commit of the release, which puts it again."
    )


@pytest.mark.parametrize("told", ["", "lake.zip", "lake.zip=0", "a=b=c", "x;y=z"])
def test_what_is_no_list_of_sha256_is_a_usage_error(spec, told, capsys):
    with pytest.raises(SystemExit) as ended:
        spec[1]("--sha256", told)
    assert ended.value.code == 2
    assert f"{told!r} is not FILE=SHA-256,..." in capsys.readouterr().err
