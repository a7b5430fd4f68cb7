"""Where landed files go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lake_check.parsing.loader import load_environment
from lake_spec.model import PostgreSql
from lake_spec.state.erase_request import uri_of

from lake_local.cli.commands.put import targets_of, warnings
from lake_local.errors import BadRequest
from lake_local.workspace.landing import Landing

LANDING = "s3://lake/landing"
LAKE = load_environment("local", Path(__file__).parents[4] / "dags/environments")


@pytest.fixture
def files(tmp_path):
    made = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for each in made:
        each.write_text("id\n1\n")
    return made


@pytest.mark.parametrize("to", [f"{LANDING}/moma/artists", f"{LANDING}/moma/artists/"])
def test_a_folder_takes_files_under_their_own_names(files, to):
    assert [url for _, url in targets_of(files, to, LAKE)] == [
        f"{LANDING}/moma/artists/a.csv",
        f"{LANDING}/moma/artists/b.csv",
    ]


def test_one_file_can_be_given_another_name(files):
    to = f"{LANDING}/moma/artists/2016.csv"
    assert targets_of(files[:1], to, LAKE) == [(files[0], to)]


def test_a_request_to_erase_goes_where_its_runs_look(files):
    to = uri_of("s3://lake/runs", "moma", "2026-11-21-7")
    assert targets_of(files[:1], to, LAKE) == [(files[0], to)]


def test_certificates_go_where_a_connection_looks_for_them(files):
    ca = "s3://lake/artifacts/certificates/ca.pem"
    shop = PostgreSql("db", "shop", "s", ("shop",), ca=ca)
    lake = replace(LAKE, connections=(("shop_db", shop),))
    assert targets_of(files[:1], ca, lake) == [(files[0], ca)]
    for several, to in ((files, ca), (files[:1], f"{ca}x"), (files[:1], ca[:-6])):
        with pytest.raises(BadRequest, match="or `ca` of a connection"):
            targets_of(several, to, lake)
    with pytest.raises(BadRequest):
        targets_of(files[:1], ca, LAKE)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadRequest, match="gone.csv: no such file or folder"):
        targets_of([tmp_path / "gone.csv"], f"{LANDING}/moma/", LAKE)


@pytest.mark.parametrize(
    "to",
    [
        pytest.param("s3://lake/warehouse/moma/", id="another-area"),
        pytest.param("s3://lake/landing/../warehouse/", id="a-way-out"),
        pytest.param("s3://lake/runs/leases/moma.json", id="what-runs-keep"),
        pytest.param("/tmp/landing", id="no-address"),
    ],
)
def test_files_land_in_the_landing_area_only(files, to):
    with pytest.raises(BadRequest):
        targets_of(files, to, LAKE)


def test_a_folder_s_files_keep_their_paths_without_hidden_ones(tmp_path):
    for path in ("load/1.csv", "changes/2026/2.csv", ".git/x", "_SUCCESS"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    put = targets_of([tmp_path], f"{LANDING}/sales/orders/", LAKE)
    assert [url.removeprefix(f"{LANDING}/sales/orders/") for _, url in put] == [
        *("_SUCCESS", "changes/2026/2.csv", "load/1.csv")
    ]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="the folder has no files"):
        targets_of([tmp_path], f"{LANDING}/sales/orders/", LAKE)


def test_two_files_never_get_one_address(files, tmp_path):
    with pytest.raises(
        BadRequest, match="/a.csv: several of the files would get this address"
    ):
        targets_of([files[0], tmp_path], f"{LANDING}/moma/", LAKE)


def test_files_of_one_reason_share_a_warning():
    landing = Landing(LANDING, ())
    urls = [f"{LANDING}/moma/{number}.csv" for number in range(7)]
    (line,) = warnings(landing, [*urls, "s3://lake/runs/erase/moma/1.json"])
    assert line.startswith(f"WARNING: no table reads {urls[0]}, {urls[1]}")
    assert "4.csv and 2 more: no table has source.path 'moma'." in line
