"""A release of the project's own tree: same content, same id."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import bundle
import pytest
from lake_check.parsing.loader import load_environment, load_lake
from lake_spec.model import DomainSpec, ReadableAs
from lake_spec.model.json_codec import from_data

from tests.unit.lake_infra.lakes import environment

FORMATS = (ReadableAs.DELTA,)
DAGS = Path(__file__).resolve().parents[2] / "dags"


def built(folder: Path) -> bundle.Release:
    lake = load_lake(DAGS / "tables", clusters=DAGS / "clusters")
    environment = load_environment("local", DAGS / "environments")
    return bundle.build(list(lake.domains.values()), environment, folder)


def test_the_same_tree_gives_the_same_bytes_and_id(tmp_path):
    first, second = built(tmp_path / "a"), built(tmp_path / "b")
    assert first.id == second.id
    for name in ("lake.zip", "boto3.zip", "main.py", "specs/moma.json"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_the_zip_holds_both_packages_and_nothing_compiled(tmp_path):
    with zipfile.ZipFile(built(tmp_path).folder / "lake.zip") as archive:
        names = archive.namelist()
    assert {"lake_spark/step/application.py", "lake_spec/model/table.py"} <= set(names)
    assert all(name.endswith(".py") for name in names)


def test_a_domain_comes_back_from_its_file(tmp_path):
    release = built(tmp_path)
    data = json.loads((release.folder / "specs" / "moma.json").read_text())
    domain = from_data(DomainSpec, data["domain"])
    assert data["release"] == release.id
    assert [table.full_name for table in domain.tables] == [
        "moma.artists",
        "moma.loans",
    ]


def test_a_table_that_leaves_formats_out_has_those_of_the_environment(tmp_path):
    place = environment(readable_as=FORMATS)
    lake = load_lake(DAGS / "tables", environment=place)
    release = bundle.build(list(lake.domains.values()), place, tmp_path)
    data = json.loads((release.folder / "specs" / "moma.json").read_text())
    tables = from_data(DomainSpec, data["domain"]).tables
    # Artists say theirs, loans leave them out.
    assert [each.storage.formats == FORMATS for each in tables] == [False, True]


def test_the_packages_of_steps_have_the_models_that_steps_use_and_no_others(tmp_path):
    bundle.zip_installed(tmp_path / "boto3.zip")
    with zipfile.ZipFile(tmp_path / "boto3.zip") as archive:
        names = set(archive.namelist())
    assert {"boto3/__init__.py", "six.py", "botocore/cacert.pem"} <= names
    assert any(name.startswith("urllib3-1.26") for name in names)
    models = {n.split("/")[2] for n in names if n.startswith("botocore/data/")}
    assert {name for name in models if "." not in name} == set(bundle.SERVICES)
    assert "endpoints.json" in {name.replace(".json.gz", ".json") for name in models}
    assert (tmp_path / "boto3.zip").stat().st_size < 4 << 20


def test_every_service_that_steps_call_has_its_model():
    called = {
        name
        for file in (bundle.SPARK_JOBS / "lake_spark").rglob("*.py")
        for name in re.findall(r'boto3\.client\("(\w+)"', file.read_text("utf-8"))
    }
    assert called and called <= set(bundle.SERVICES)


def test_without_the_packages_of_steps_there_is_no_release(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKE_VENVS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="Run ./setup.sh --only airflow"):
        built(tmp_path / "release")
