"""The commands of docs/deploy.md are those of the templates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lake_acceptance import account
from lake_check.parsing.loader import load_environment, load_lake
from lake_infra.endpoints import endpoint_services
from lake_infra.template import GENERATED, LAYERS, TEMPLATES, load_template

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
DEPLOYS = re.findall(r"^deploy (\w+) (\S+)((?: \w+=\S+)*)$", PAGE, re.MULTILINE)


def test_every_layer_is_deployed_once_and_in_order():
    assert [layer for layer, _, _ in DEPLOYS] == list(LAYERS)


def test_every_layer_is_deployed_from_its_template():
    written = {layer: file for layer, file, _ in DEPLOYS if layer not in GENERATED}
    for layer, file in written.items():
        assert ROOT / file == TEMPLATES / f"{layer}.yml"


def test_every_value_that_is_written_is_a_parameter_of_the_template():
    for layer, _, words in DEPLOYS:
        names = {word.split("=")[0] for word in words.split()}
        if layer not in GENERATED:
            assert names <= set(load_template(layer)["Parameters"]), layer


WRITTEN = ("MonthlyBudget", "Repository", "RequirementsVersion", "StartupVersion")


def test_an_idle_environment_does_not_use_up_the_budget():
    (given,) = re.findall(r"MonthlyBudget=(\d+)", PAGE)
    idle = [int(usd) for usd in re.findall(r"\| (\d+) USD \|", PAGE)]
    assert len(idle) == 2 and sum(idle) < int(given)
    assert "Default" not in load_template("alerts")["Parameters"]["MonthlyBudget"]


def test_every_value_that_only_people_know_is_written():
    for layer, _, words in DEPLOYS:
        if layer in GENERATED:
            continue
        asked = load_template(layer)["Parameters"]
        for name in WRITTEN:
            assert name not in asked or f" {name}=" in words, layer


def test_the_secret_that_the_acceptance_run_reads_is_made_before_it():
    named = load_environment("prod", ROOT / "dags" / "environments").erase_secret
    made = f"put-parameter --type SecureString --name {named} --value"
    assert PAGE.index(made) < PAGE.index('./run_locally.sh acceptance "$LAKE"\n')


def test_the_account_is_asked_before_anything_is_made():
    asked = PAGE.index("./run_locally.sh acceptance prod --preflight\n")
    assert asked < PAGE.index("\ndeploy network ")
    listed = re.findall(r"`([a-z-]+)`", PAGE[asked : PAGE.index("What it costs while")])
    assert {each.name for each in account.CHECKS} <= set(listed)


def test_the_endpoints_that_are_paid_for_are_counted():
    environment = load_environment("prod", ROOT / "dags" / "environments")
    domains = load_lake(ROOT / "dags" / "tables").domains.values()
    count = len(endpoint_services(environment, domains))
    assert f"The {count} of `prod` in two zones are {2 * count} hourly charges" in PAGE


def test_the_endpoint_that_emr_adds_by_itself_is_named():
    policies = load_template("emr")["Resources"]["ServiceRole"]["Properties"]
    assert "AmazonEMRServicePolicy_v2" in str(policies["ManagedPolicyArns"])
    assert "`AmazonEMRServicePolicy_v2` grants `ec2:CreateVpcEndpoint`" in PAGE


def test_roles_that_the_key_names_are_made_before_it():
    key = load_template("data")["Resources"]["Key"]["Properties"]["KeyPolicy"]
    named = set(re.findall(r"aws-service-role/([a-z0-9.]+)/", str(key)))
    before = PAGE[: PAGE.index("\ndeploy data ")]
    made = re.findall(r"service-linked-role --aws-service-name (\S+)", before)
    assert named and named <= set(made)


def test_the_prefix_of_tokens_is_read_before_it_is_given():
    command = "gh api repos/owner/name/actions/oidc/customization/sub"
    assert PAGE.index(command) < PAGE.index(" SubjectPrefix=")


def rows() -> list[list[str]]:
    page = (ROOT / "docs" / "proven.md").read_text("utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_part_says_where_it_was_proved_and_by_which_test(row):
    _, *marks, by = row
    assert len(marks) == 4 and any(marks)
    assert all(re.fullmatch(r"(yes)?", each) for each in marks[:3])
    assert re.fullmatch(r"(yes \(\d+\))?", marks[3])
    assert (ROOT / by.strip("`")).exists()


def test_what_only_an_account_shows_is_what_the_acceptance_run_must_show():
    page = (ROOT / "docs" / "proven.md").read_text("utf-8")
    named = {int(n) for row in rows() for n in re.findall(r"\((\d+)\)", row[4])}
    listed = {int(n) for n in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    assert named == listed
