"""What README shows is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def blocks(language: str) -> list:
    return [text for kind, text in BLOCKS if kind == language]


def test_the_first_yaml_is_the_museums_own_spec():
    shown = yaml.safe_load(blocks("yaml")[0])
    real = yaml.safe_load((ROOT / "dags/tables/moma/artists.yml").read_text("utf-8"))
    assert {name: real[name] for name in shown} == shown


@pytest.mark.parametrize(
    "command", [line for b in blocks("bash") for line in b.splitlines()]
)
def test_every_command_is_one_that_the_script_takes(command):
    from lake_local.cli.parser import parse

    words = re.findall(r'"[^"]*"|\S+', command)
    script, arguments = words[0], [word.strip('"') for word in words[1:]]
    assert (ROOT / script).is_file()
    if script == "./run_locally.sh":
        parse(arguments)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_somewhere(target):
    assert target.startswith("https://") or (ROOT / target).exists()


def test_the_shown_figures_are_those_that_the_tests_hold():
    tested = (ROOT / "tests/spark/ingest/test_artists.py").read_text("utf-8")
    for figure in ("14,839", "15,434"):
        assert figure in README and figure.replace(",", "_") in tested
