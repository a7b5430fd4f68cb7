"""docs/screens.md and its pictures: all there, all shown, of the size that they should be."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import List

import pytest

from docs.screens.pages import HEIGHT, PICTURES, WIDTH

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/pictures/airflow"
PAGE = (ROOT / "docs/screens.md").read_text(encoding="utf-8")
SECTIONS = re.findall(
    r"^!\[(.+)\]\(pictures/airflow/(.+)\.png\)\n((?:(?!^[#!]).*\n?)*)", PAGE, re.M
)
LARGEST = 150 * 1024
SMALLEST = 10 * 1024
"""An empty page has 6 KB."""


def faults(content: bytes) -> List[str]:
    """What is wrong with a picture."""
    if content[:8] != b"\x89PNG\r\n\x1a\n" or content[-8:-4] != b"IEND":
        return ["it is no whole PNG"]
    found = []
    if struct.unpack(">II", content[16:24]) != (WIDTH, HEIGHT):
        found.append(f"its size is not {WIDTH} x {HEIGHT}")
    if not SMALLEST < len(content) < LARGEST:
        found.append(f"it has {len(content)} bytes: an empty page, or too many colours")
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_sound(name):
    content = (FOLDER / f"{name}.png").read_bytes()
    assert faults(content) == [], "run: docs/screens.sh"


def test_every_picture_is_shown_once_and_in_the_order_in_which_they_are_taken():
    assert [name for _, name, _ in SECTIONS] == list(PICTURES)
    assert {path.name for path in FOLDER.iterdir()} == {f"{n}.png" for n in PICTURES}


@pytest.mark.parametrize("title, name, text", SECTIONS, ids=lambda value: value[:20])
def test_every_picture_has_words_for_who_does_not_see_it(title, name, text):
    assert len(title.split()) > 3
    assert text.count(". ") + text.count(".\n") >= 2


@pytest.mark.parametrize("page, link", [("README.md", "docs/"), ("docs/faults.md", "")])
def test_the_page_is_linked(page, link):
    assert f"({link}screens.md" in (ROOT / page).read_text(encoding="utf-8")


def test_a_picture_that_is_none_is_found():
    whole = (FOLDER / f"{next(iter(PICTURES))}.png").read_bytes()
    assert faults(whole[: len(whole) // 2]) == ["it is no whole PNG"]
    other = whole[:16] + struct.pack(">II", 800, 600) + whole[24:]
    assert faults(other) == [f"its size is not {WIDTH} x {HEIGHT}"]
