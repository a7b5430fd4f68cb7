"""`rename` moves a spec, says what goes along, and lists who else names the table."""

from __future__ import annotations

import shutil

import pytest

from lake_check.parsing.loader import load_table
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.workspace.project import find

PRODUCT = """name: totals
description: Number of artists by nationality
owner: museum-data
source: {kind: product, sql: totals.sql}
columns: {nationality: string, n: long}
key: [nationality]
"""
SQL = "SELECT nationality, count(*) AS n FROM {{ current('moma.artists') }} GROUP BY nationality\n"


@pytest.fixture
def tables(tmp_path):
    """The museum's specs with a product, and a domain next to it."""
    folder = tmp_path / "tables"
    shutil.copytree(find().tables, folder)
    (folder / "moma/totals.yml").write_text(PRODUCT)
    (folder / "moma/totals.sql").write_text(SQL)
    whole = (folder / "moma/_domain.yml").read_text()
    (folder / "art").mkdir()
    (folder / "art/_domain.yml").write_text(whole.replace("name: moma", "name: art"))
    return folder


@pytest.fixture
def rename(tables, tmp_path):
    def rename(*names):
        asked = ["--tables", str(tables), "--state-dir", str(tmp_path / "state")]
        args = parse(["rename", *names, *asked])
        return args.run(args)

    return rename


def test_a_table_goes_on_under_its_new_name_and_others_are_to_follow(
    rename, tables, capsys
):
    assert rename("moma.artists", "moma.makers") == 1
    said = capsys.readouterr().out
    assert "moma/artists.yml becomes moma/makers.yml" in said
    assert "goes on in s3://lake/warehouse/moma/artists:" in said
    assert "marks moma.artists_changes, moma.artists, moma.artists_history" in said
    assert f"{tables}/moma/totals.sql:1: " in said and "[unknown-input]" in said
    _, table = load_table("moma.makers", tables)
    assert (
        table.formerly == "moma.artists" and not (tables / "moma/artists.yml").exists()
    )


def test_a_second_name_is_not_the_one_that_it_is_stored_under(rename, tables, capsys):
    for each in ("totals.yml", "totals.sql"):
        (tables / "moma" / each).unlink()
    assert rename("moma.artists", "moma.makers") == 0
    assert rename("moma.makers", "art.people") == 0
    _, table = load_table("art.people", tables)
    assert (table.formerly, table.source.path) == ("moma.artists", "moma/artists")
    assert "Runs of art wait for one of moma" in capsys.readouterr().out


def test_a_product_takes_its_sql_along(rename, tables):
    rename("moma.totals", "art.totals")
    assert (tables / "art/totals.sql").read_text() == SQL


def test_a_dry_run_writes_nothing(rename, tables, capsys):
    before = {each: each.read_bytes() for each in tables.rglob("*") if each.is_file()}
    assert rename("moma.artists", "moma.makers", "--dry-run") == 1
    after = {each: each.read_bytes() for each in tables.rglob("*") if each.is_file()}
    assert before == after and capsys.readouterr().out.endswith(
        "Nothing was written.\n"
    )


@pytest.mark.parametrize(
    "new, words",
    [
        ("moma.loans", "loans.yml is there"),
        ("gone.artists", "there is no domain 'gone'"),
        ("artists", "Write domain.table"),
        ("moma.Artists", "Write domain.table"),
        ("moma.../x", "Write domain.table"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused(rename, new, words):
    with pytest.raises(BadRequest, match=words.replace(".", "[.]")):
        rename("moma.artists", new)
