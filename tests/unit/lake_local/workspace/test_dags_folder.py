"""Tables from another folder get a DAGs folder of their own."""

from __future__ import annotations

import pytest

from lake_local.errors import BadRequest
from lake_local.workspace.dags_folder import SHARED, generate


@pytest.fixture
def project_dags(tmp_path):
    dags = tmp_path / "project" / "dags"
    for name in SHARED:
        (dags / name).mkdir(parents=True)
        (dags / name / "marker").write_text(name)
    (dags / ".airflowignore").write_text("lake_spec\n")
    return dags


@pytest.fixture
def tables(tmp_path):
    for name in ("sales", "shop"):
        (tmp_path / "tables" / name).mkdir(parents=True)
        (tmp_path / "tables" / name / "_domain.yml").write_text(f"name: {name}\n")
    return tmp_path / "tables"


@pytest.fixture
def folder(tmp_path, project_dags, tables):
    def generated():
        target = tmp_path / "home" / "dags"
        return generate(target, project_dags=project_dags, tables=tables)

    return generated


def test_every_domain_gets_its_file(folder):
    made = folder()
    assert 'build_domain("sales")' in (made / "sales.py").read_text()
    assert 'build_domain("shop")' in (made / "shop.py").read_text()


@pytest.mark.parametrize("name", SHARED)
def test_what_dags_share_comes_from_the_project(folder, name):
    assert (folder() / name / "marker").read_text() == name


def test_airflow_ignores_what_is_no_dag_file(folder):
    assert (folder() / ".airflowignore").read_text() == "lake_spec\n"


def test_a_domain_that_left_takes_its_file_along(folder, tables):
    folder()
    (tables / "shop" / "_domain.yml").unlink()
    assert not (folder() / "shop.py").exists()


def test_files_that_are_right_are_not_touched(folder):
    before = (folder() / "sales.py").stat().st_mtime_ns
    assert (folder() / "sales.py").stat().st_mtime_ns == before


def test_a_link_to_a_project_that_moved_is_renewed(folder, tmp_path):
    made = folder()
    (made / "clusters").unlink()
    (made / "clusters").symlink_to(tmp_path / "moved")
    assert (folder() / "clusters" / "marker").read_text() == "clusters"


def test_a_folder_without_domains_is_refused_with_what_a_domain_is(
    tmp_path, project_dags
):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRequest, match="Create one: a folder with a _domain.yml"):
        generate(tmp_path / "d", project_dags=project_dags, tables=tmp_path / "empty")


def test_a_missing_folder_is_refused_by_name(tmp_path, project_dags):
    with pytest.raises(BadRequest, match="nowhere: no such folder"):
        generate(tmp_path / "d", project_dags=project_dags, tables=tmp_path / "nowhere")


def test_a_name_that_could_become_code_is_refused(folder, tables):
    evil = tables / 'x")\nimport os'
    evil.mkdir()
    (evil / "_domain.yml").write_text("name: x\n")
    with pytest.raises(BadRequest, match="is not a valid name of a domain"):
        folder()


def test_what_was_not_generated_stays(folder, tables):
    made = folder()
    (made / "other_team.py").write_text("from airflow import DAG\n")
    (made / "dbt").mkdir()
    (made / "dbt" / "project.yml").write_text("name: other\n")
    (made / "linked").symlink_to(made / "dbt")
    (tables / "shop" / "_domain.yml").unlink()
    left = {each.name for each in folder().iterdir()} - {*SHARED, ".airflowignore"}
    assert left == {"sales.py", "other_team.py", "dbt", "linked"}
    assert (made / "dbt" / "project.yml").read_text() == "name: other\n"


@pytest.mark.parametrize("name", ["shop.py", "lake.py", "clusters"])
def test_what_was_not_generated_is_not_replaced(folder, name):
    made = folder()
    (made / name).unlink()
    (made / name).write_text("of somebody else\n")
    (made / "sales.py").unlink()
    with pytest.raises(BadRequest) as refused:
        folder()
    assert str(refused.value) == (
        f"{made / name} was not written by a command, and --tables needs the name. Move it"
        " elsewhere, or give these tables another state directory: --state-dir DIR"
    )
    assert (made / name).read_text() == "of somebody else\n"
    assert not (made / "sales.py").exists()
