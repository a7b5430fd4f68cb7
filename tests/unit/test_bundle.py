"""A release of the project's own tree: same content, same id."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import bundle
from lake_spec.model import DomainSpec
from lake_spec.parsing.json_codec import from_data
from lake_spec.parsing.loader import load_environment, load_lake

DAGS = Path(__file__).resolve().parents[2] / "dags"


def built(folder: Path) -> bundle.Release:
    lake = load_lake(DAGS / "tables", clusters=DAGS / "clusters")
    environment = load_environment("local", DAGS / "environments")
    return bundle.build(list(lake.domains.values()), environment, folder)


def test_the_same_tree_gives_the_same_bytes_and_id(tmp_path):
    first, second = built(tmp_path / "a"), built(tmp_path / "b")
    assert first.id == second.id
    for name in ("lake.zip", "main.py", "specs/moma.json"):
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
    assert [table.full_name for table in domain.tables] == ["moma.artists"]
