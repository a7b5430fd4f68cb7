"""The Terraform module makes the stacks of docs/deploy.md, of the same templates."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lake_infra.__main__ import main
from lake_infra.aws_limits import TEMPLATE_BYTES
from lake_infra.parameters import parameters
from lake_infra.template import GENERATED, LAYERS, TEMPLATES, load_template
from lake_infra.terraform import VARIABLES, terraform_files
from lake_spec.model import Reader

from tests.unit.lake_infra.lakes import domain, environment

FOLDER = TEMPLATES.parent / "terraform"
MODULE = (FOLDER / "main.tf").read_text("utf-8")
EXAMPLE = (FOLDER / "example" / "main.tf").read_text("utf-8")
BODY = 51_200
"""Bytes of a template in a request."""


def stacks(module: str) -> dict[str, str]:
    """The text of each stack by its layer."""
    found = re.findall(
        r'^resource "aws_cloudformation_stack" "(\w+)" \{\n(.*?)^\}',
        module,
        re.M | re.S,
    )
    return dict(found)


def faults(module: str) -> list[str]:
    """What the module does otherwise than docs/deploy.md."""
    found, known = stacks(module), list(LAYERS)
    said = [f"{each}: no stack" for each in known if each not in found]
    said += [f"{each}: of no layer" for each in found if each not in known]
    for layer in (each for each in known if each in found):
        text, before = found[layer], known[: known.index(layer)][-1:]
        wanted = [
            f'contains(var.layers, "{layer}")',
            f'"${{local.prefix}}-{layer}"',
            f'lookup(local.given, "{layer}", {{}})',
            *(f"[aws_cloudformation_stack.{each}]" for each in before),
            (
                f"aws_s3_object.{layer}[0].key"
                if layer in GENERATED
                else f"/../templates/{layer}.yml"
            ),
            "CAPABILITY_NAMED_IAM",
            "CAPABILITY_AUTO_EXPAND",
        ]
        said += [f"{layer}: lacks {each}" for each in wanted if each not in text]
    return said


def test_there_is_a_stack_for_each_layer_in_the_order_of_the_page():
    assert faults(MODULE) == []
    assert list(stacks(MODULE)) == list(LAYERS)


@pytest.mark.parametrize(
    "good, bad, says",
    [
        (
            '"aws_cloudformation_stack" "emr"',
            '"aws_cloudformation_stack" "er"',
            "emr: no",
        ),
        (
            "templates/mwaa.yml",
            "templates/emr.yml",
            "mwaa: lacks /../templates/mwaa.yml",
        ),
        (
            "depends_on    = [aws_cloudformation_stack.data]",
            "depends_on    = []",
            "emr: lacks [aws_cloudformation_stack.data]",
        ),
        (
            "aws_s3_object.readers[0]",
            "aws_s3_object.domains[0]",
            "readers: lacks aws_s3",
        ),
        ('"CAPABILITY_NAMED_IAM", ', "", "network: lacks CAPABILITY_NAMED_IAM"),
    ],
)
def test_what_it_does_otherwise_is_found(good, bad, says):
    assert good in MODULE
    assert any(each.startswith(says) for each in faults(MODULE.replace(good, bad, 1)))


@pytest.mark.parametrize("layer", [each for each in LAYERS if each not in GENERATED])
def test_a_template_with_a_file_fits_into_a_request(layer):
    assert (TEMPLATES / f"{layer}.yml").stat().st_size <= BODY < TEMPLATE_BYTES


def test_what_is_written_is_what_the_module_and_the_example_take(tmp_path, capsys):
    assert main(["terraform", "prod", str(tmp_path)]) == 0
    written = {Path(line).name for line in capsys.readouterr().out.split()}
    assert written == {VARIABLES, "domains.json"}
    told = json.loads((tmp_path / VARIABLES).read_text("utf-8"))
    for text in (MODULE, EXAMPLE):
        asked = set(re.findall(r'^variable "(\w+)"', text, re.MULTILINE))
        assert set(told) <= asked
    assert set(told["parameters"]) == set(LAYERS) - {"readers"}
    domains = json.loads((tmp_path / "domains.json").read_text("utf-8"))
    assert domains["Resources"]


def test_its_parameters_are_those_of_the_command_line():
    lake = [replace(domain("sales", "sales/orders"), readers=(Reader("analysts"),))]
    files = terraform_files(environment(), lake)
    told = json.loads(files[VARIABLES])["parameters"]
    assert told["emr"] == parameters(load_template("emr"), environment(), lake)
    assert set(told) == set(LAYERS) and "readers.json" in files


def test_the_example_gives_what_only_people_know():
    chosen = re.search(r"layers +=\s*\[(.*?)\]", EXAMPLE, re.S)
    for layer in re.findall(r'"(\w+)"', chosen[1]):
        if layer in GENERATED:
            continue
        asked = load_template(layer)["Parameters"]
        known = parameters(load_template(layer), environment(), [domain("sales")])
        lacking = {n for n, e in asked.items() if "Default" not in e} - set(known)
        assert all(f"{each} = " in EXAMPLE for each in lacking), (layer, lacking)
