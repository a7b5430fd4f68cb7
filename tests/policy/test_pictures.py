"""The pictures of how-history-is-kept.md are those that draw.py makes of the page."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from docs.pictures import draw, page

SPECS, EXAMPLES = page.read()
DRAWN = {example.picture: example for example in EXAMPLES if example.picture}


def drawn(example: page.Example) -> str:
    return draw.picture(example, SPECS[example.spec])


def texts(svg: str) -> list:
    return [each.text for each in ElementTree.fromstring(svg).iter() if each.text]


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_its_example_says(name):
    held = (draw.FOLDER / name).read_text(encoding="utf-8")
    assert held == drawn(DRAWN[name]), "run: python -m docs.pictures.draw"


def test_there_is_no_picture_without_an_example_and_no_block_without_a_name():
    assert {path.name for path in draw.FOLDER.glob("*.svg")} == set(DRAWN)
    text = page.PAGE.read_text(encoding="utf-8")
    blocks = len(re.findall(r"^```\w", text, re.MULTILINE))
    read = sum(len(each.files) + len(each.tables) for each in EXAMPLES) + len(SPECS)
    assert blocks == read


def test_the_command_is_one_that_the_script_takes():
    from lake_local.cli.parser import parse

    (command,) = re.findall(r"^\./run_locally\.sh (.*)$", page.PAGE.read_text(), re.M)
    asked = parse(shlex.split(command))
    assert (asked.where, asked.columns[0]) == ("id = 1", "id")


def test_a_late_event_and_the_version_that_it_makes_are_named():
    found = texts(drawn(DRAWN["late-event.svg"]))
    assert "Bern, late" in found and found.count("Bern") == 1


def test_a_change_of_the_example_changes_the_picture():
    example = DRAWN["tie.svg"]
    files = {name: text.replace("Bern", "Kyiv") for name, text in example.files.items()}
    assert "Kyiv" in texts(drawn(replace(example, files=files)))
