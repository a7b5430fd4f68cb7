"""The pictures are those that draw.py draws; each has words for who does not see it."""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from docs.pictures import draw, flow, page
from docs.pictures.flow import DIAGRAMS

SPECS, EXAMPLES = page.read()
DRAWN = {example.picture: example for example in EXAMPLES if example.picture}


def drawn(example: page.Example) -> str:
    return draw.picture(example, SPECS[example.spec])


def texts(svg: str) -> list:
    return [each.text for each in ElementTree.fromstring(svg).iter() if each.text]


@pytest.mark.parametrize("name, svg", draw.pictures().items())
def test_a_picture_is_what_draw_makes_of_its_source(name, svg):
    held = (draw.FOLDER / name).read_text(encoding="utf-8")
    assert held == svg, "run: python -m docs.pictures.draw"


def test_every_picture_is_drawn():
    found = {path.name for path in draw.FOLDER.glob("*.svg")}
    assert found == set(draw.pictures()) == {*DRAWN, *DIAGRAMS}


@pytest.mark.parametrize(
    "name, number",
    [("README.md", 1), ("docs/concepts.md", 3)],
    ids=["readme", "concepts"],
)
def test_a_page_shows_its_pictures_with_words(name, number):
    text = (draw.FOLDER.parents[1] / name).read_text(encoding="utf-8")
    shown = re.findall(r"^!\[(.+)\]\(.*pictures/(\S+\.svg)\)$", text, re.MULTILINE)
    assert len({svg for _, svg in shown}) == number
    assert all(len(words.split()) > 5 for words, _ in shown)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_diagram_stays_inside_and_its_boxes_apart(name):
    diagram = DIAGRAMS[name]
    width, height = diagram.size
    boxes = list(diagram.boxes.values())
    for box in boxes:
        assert flow.WIDTH / 2 < box.x < width - flow.WIDTH / 2
        assert flow.HEIGHT / 2 < box.y < height - flow.HEIGHT / 2
    for one, other in itertools.combinations(boxes, 2):
        is_apart = abs(one.y - other.y) > flow.HEIGHT + 8
        assert is_apart or abs(one.x - other.x) > flow.WIDTH + 8, (one, other)


def test_no_block_of_the_history_page_is_without_a_name():
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
