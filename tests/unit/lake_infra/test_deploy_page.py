"""The commands of docs/deploy.md are those of the templates."""

from __future__ import annotations

import re
from pathlib import Path

from lake_infra.template import LAYERS, TEMPLATES, load_template

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
DEPLOYS = re.findall(r"^deploy (\w+) (\S+)((?: \w+=\S+)*)$", PAGE, re.MULTILINE)


def test_every_layer_is_deployed_once_and_in_order():
    assert [layer for layer, _, _ in DEPLOYS] == list(LAYERS)


def test_every_layer_is_deployed_from_its_template():
    written = {layer: file for layer, file, _ in DEPLOYS if layer != "domains"}
    for layer, file in written.items():
        assert ROOT / file == TEMPLATES / f"{layer}.yml"


def test_every_value_that_is_written_is_a_parameter_of_the_template():
    for layer, _, words in DEPLOYS:
        names = {word.split("=")[0] for word in words.split()}
        if layer != "domains":
            assert names <= set(load_template(layer)["Parameters"]), layer


def test_every_value_that_only_people_know_is_written():
    for layer, _, words in DEPLOYS:
        if layer == "domains":
            continue
        asked = load_template(layer)["Parameters"]
        for name in ("Repository", "StartupVersion", "RequirementsVersion"):
            assert name not in asked or f" {name}=" in words, layer
