"""A plan names what differs, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from lake_release.built import PROJECT
from lake_release.errors import ReleaseError
from lake_release.target import Target

from tests.unit.lake_release.conftest import write_dags


def plan(lake):
    return list(lake.deployment().plan(lake.built()))


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_first_plan_names_everything(lake):
    head, *lines = plan(lake)
    assert head == f"prod: no release yet -> {lake.built().id}"
    assert "table moma.artists: new" in lines and "DAG file moma.py: new" in lines


def test_nothing_changed(lake):
    release = lake.deploy()
    assert plan(lake) == [f"prod: {release} -> {release}", "nothing to do"]


def test_a_changed_table_is_named_with_its_setting_and_nothing_else(lake):
    lake.deploy()
    table = lake.project / "dags" / "tables" / "moma" / "artists.yml"
    with table.open("a") as file:
        file.write("\nquarantine: {min_rows: 7}\n")
    assert plan(lake)[1:] == ["table moma.artists: quarantine.min_rows"]


def test_rules_and_how_files_are_read_count_from_now_on(lake):
    lake.deploy()
    table = lake.project / "dags" / "tables" / "moma" / "artists.yml"
    edit(table, "{type: csv", "{type: csv, delimiter: ';'")
    edit(table, "quality:\n", "quarantine: {min_rows: 7}\nquality:\n")
    edit(table, "not_null: true, on_fail: warn", "not_null: true")
    assert plan(lake)[1:] == [
        "table moma.artists: quality, quarantine.min_rows, source.format.delimiter",
        "table moma.artists: source.format.delimiter, quality: from now on. Rows of files"
        " that are ingested stay as they are until the files are reprocessed",
    ]


def test_a_table_and_a_domain_that_go_are_named(lake):
    lake.deploy()
    shutil.rmtree(lake.project / "dags" / "tables" / "moma")
    write_dags(lake.project, "one")
    assert plan(lake)[1:] == [
        "table moma.artists: removed from the specs; its data remain",
        "table moma.loans: removed from the specs; its data remain",
        "domain moma: removed from the specs; its data remain",
        "DAG file moma.py: removed",
        "dags/moma.py: 1 file(s) differ",
    ]


def test_settings_of_the_environment_code_and_packages(lake):
    lake.deploy()
    dags = lake.project / "dags"
    edit(dags / "environments" / "prod.yml", "cost-center: lake", "cost-center: x")
    edit(lake.project / "requirements" / "airflow.txt", "amazon", "amazon[aiobotocore]")
    write_dags(lake.project, "two", "moma.py")
    assert plan(lake)[1:] == [
        "environment prod: tags",
        "dags/lake_airflow: 1 file(s) differ",
        "requirements.txt: changed, so MWAA's environment is updated, which takes up to an"
        " hour",
    ]


def test_an_environment_without_an_account_needs_the_bucket():
    from lake_check.parsing.loader import load_environment

    local = load_environment("local", PROJECT / "dags" / "environments")
    local = replace(local, runtime_role=None)
    with pytest.raises(ReleaseError, match="give --dags-bucket"):
        Target.of(local, None)
    assert Target.of(local, "lake").dags_bucket == "lake"
