"""A state directory gets the policies of its specs; none where a deployment has none."""

from __future__ import annotations

import json
import shutil

import pytest

from lake_emulator.keys import secret_of
from lake_emulator.policies.enforcer import FILE
from lake_emulator.server import Emulator
from lake_local.stack import policies
from lake_local.workspace import project
from lake_local.workspace.specs import specs_of

PROJECT = project.find()


@pytest.fixture
def tables(tmp_path):
    return shutil.copytree(PROJECT.tables, tmp_path / "tables")


@pytest.fixture
def without_role(tmp_path):
    """The file of an environment as it was before roles."""
    ours = PROJECT.dags / "environments" / "local.yml"
    lines = ours.read_text(encoding="utf-8").splitlines()
    left = [x for x in lines if not x.startswith(("runtime_role", "security_conf"))]
    file = tmp_path / "local.yml"
    file.write_text("\n".join(left), encoding="utf-8")
    return str(file)


def test_the_file_has_the_roles_of_the_specs(home, tables):
    policies.write(home, specs_of(PROJECT, tables))
    found = json.loads((home.root / FILE).read_text())
    assert "lake-local-steps" in found["roles"]
    assert "arn:aws:s3:::lake/warehouse/moma/*" in json.dumps(found)


def test_a_domain_with_a_fault_is_left_out(home, tables):
    shutil.copytree(tables / "moma", tables / "broken")
    (tables / "broken" / "artists.yml").write_text("name: [", encoding="utf-8")
    policies.write(home, specs_of(PROJECT, tables))
    text = (home.root / FILE).read_text()
    assert "lake/warehouse/moma/*" in text and "broken" not in text


def test_before_the_first_domain_no_step_has_a_role(home, tables):
    specs = specs_of(PROJECT, tables)
    shutil.rmtree(tables / "moma")
    policies.write(home, specs)
    roles = json.loads((home.root / FILE).read_text())["roles"]
    assert set(roles) == {"lake-local-airflow", "EMR_EC2_DefaultRole"}


def test_without_a_role_there_is_no_file_and_it_is_said(
    home, tables, without_role, capsys
):
    (home.root / FILE).write_text("{}")
    policies.write(home, specs_of(PROJECT, tables, without_role))
    assert not (home.root / FILE).exists()
    told = capsys.readouterr().err
    assert "calls are not judged by policies" in told
    assert "runtime_role: missing" in told


def test_an_emulator_that_is_up_judges_by_the_specs_as_they_are(
    home, tables, without_role
):
    emulator = Emulator(home.root)
    emulator.start()
    try:
        url, secret = emulator.url, secret_of(home.root)
        assert not emulator.enforcer.is_on
        policies.replace(url, secret, specs_of(PROJECT, tables))
        assert emulator.enforcer.is_on
        policies.replace(url, secret, specs_of(PROJECT, tables, without_role))
        assert not emulator.enforcer.is_on
    finally:
        emulator.stop()
