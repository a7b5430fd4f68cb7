"""A DAG file of five lines: its DAGs, or all mistakes of its domain as one error."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from airflow.models import DagBag

from lake_airflow import build
from lake_airflow import build_domain
from lake_airflow.settings import read_settings
from lake_spec.layout.release_files import release_text
from lake_spec.platform.jars import ICEBERG

DAGS = Path(__file__).resolve().parents[3] / "dags"


def test_the_example_domain_has_its_dags():
    assert set(build_domain("moma")) == {
        "moma_erase",
        "moma_full_load",
        "moma_incremental",
        "moma_maintenance",
        "moma_rebuild",
        "moma_reprocess",
    }


def test_the_package_has_nothing_else_to_offer():
    import lake_airflow

    with pytest.raises(AttributeError, match="no attribute 'build_everything'"):
        lake_airflow.build_everything


@pytest.mark.parametrize(
    "environment, cluster", [("local", "standard"), ("dev", "large")]
)
def test_an_environment_can_choose_the_cluster_of_every_domain(
    tmp_path, monkeypatch, environment, cluster
):
    shutil.copytree(DAGS / "environments", tmp_path / "environments")
    dev = tmp_path / "environments" / "dev.yml"
    dev.write_text(dev.read_text().replace("cluster: standard", "cluster: large"))
    monkeypatch.setenv("LAKE_ENVIRONMENT", environment)
    changed = replace(read_settings(), environments=tmp_path / "environments")
    monkeypatch.setattr(build, "read_settings", lambda: changed)
    dag = build_domain("moma")["moma_full_load"]
    assert dag.get_task("full_load").plan.cluster == cluster
    create = dag.get_task("create_cluster")
    assert (create.environment.name, create.cluster.name) == (environment, cluster)


def test_the_first_task_knows_what_the_files_of_its_domain_must_be(
    tmp_path, monkeypatch
):
    artifacts = {"lake.zip": "0" * 64, "specs/moma.json": "1" * 64}
    artifacts["specs/shop.json"] = "2" * 64
    file = tmp_path / "release.json"
    file.write_text(release_text("3f9c2a71", artifacts))
    monkeypatch.setenv("LAKE_RELEASE_FILE", str(file))
    create = build_domain("moma")["moma_full_load"].get_task("create_cluster")
    assert create.release == "3f9c2a71"
    assert create.sha256 == f"lake.zip={'0' * 64},specs/moma.json={'1' * 64}"


def test_an_environment_can_name_the_formats_of_tables_and_so_the_jars_of_steps(
    tmp_path, monkeypatch
):
    shutil.copytree(DAGS / "tables", tmp_path / "tables")
    table = tmp_path / "tables" / "moma" / "artists.yml"
    text = table.read_text()
    published = "storage: {readable_as: [iceberg, delta]}\n"
    assert published in text
    table.write_text(text.replace(published, ""))
    environments = tmp_path / "environments"
    shutil.copytree(DAGS / "environments", environments)
    changed = replace(
        read_settings(), environments=environments, tables=tmp_path / "tables"
    )
    monkeypatch.setattr(build, "read_settings", lambda: changed)

    def jars():
        return build_domain("moma")["moma_full_load"].get_task("full_load").plan.jars

    assert ICEBERG not in jars()
    with (environments / "local.yml").open("a") as file:
        file.write("readable_as: [iceberg]\n")
    assert ICEBERG in jars()


def test_a_dag_runs_on_a_cluster_of_its_own_where_the_domain_says_so(
    tmp_path, monkeypatch
):
    shutil.copytree(DAGS / "tables", tmp_path / "tables")
    with (tmp_path / "tables" / "moma" / "_domain.yml").open("a") as file:
        file.write("clusters: {full_load: large, rebuild: large}\n")
    environments = tmp_path / "environments"
    environments.mkdir()
    local = (DAGS / "environments" / "local.yml").read_text()
    (environments / "local.yml").write_text(local.replace("cluster: standard", ""))
    tables = tmp_path / "tables"
    changed = replace(read_settings(), environments=environments, tables=tables)
    monkeypatch.setattr(build, "read_settings", lambda: changed)
    made = build_domain("moma").items()
    found = {name: dag.get_task("create_cluster").cluster.name for name, dag in made}
    assert found == {
        "moma_erase": "standard",
        "moma_full_load": "large",
        "moma_incremental": "standard",
        "moma_reprocess": "standard",
        "moma_maintenance": "standard",
        "moma_rebuild": "large",
    }


def test_mistakes_in_a_domain_are_the_import_error_of_its_dag_file(
    tmp_path, monkeypatch
):
    shutil.copytree(DAGS / "tables", tmp_path / "tables")
    artists = tmp_path / "tables" / "moma" / "artists.yml"
    wrong = artists.read_text().replace("key: [constituent_id]", "key: [id]")
    artists.write_text(wrong + "traked: 1\n")
    monkeypatch.setenv("LAKE_TABLES", str(tmp_path / "tables"))
    bag = DagBag(str(DAGS))
    assert sorted(bag.dags) == ["lake_proof", "lake_reaper"]
    ((path, text),) = bag.import_errors.items()
    assert Path(path).name == "moma.py"
    assert "SpecErrors" in text
    assert "artists.yml" in text and "traked" in text and "'id'" in text
