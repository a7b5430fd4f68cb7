"""The tutorial does what it says: its commands print what the page shows."""

from __future__ import annotations

import pytest

from tests.servers.tutorial import PAGE, blocks, differs, play, statements

TABLE = "id  name  seconds\n--  ----  -------\n 1  Ada         …\n…\nrun done in …\n"


@pytest.mark.parametrize(
    "printed, is_other",
    [
        ("id name seconds\n-- ---- --\n1 Ada 41.2\nrun done in 0:41", False),
        (
            "a line before\nid name seconds\n-- -- --\n1 Ada 4\nx\ny\nrun done in 1",
            False,
        ),
        ("id name seconds\n-- -- --\n1 Ben 41.2\nrun done in 0:41", True),
        ("id name seconds\n-- -- --\n1 Ada 41.2\nrun done in 0:41\nWARNING", True),
        ("", True),
    ],
)
def test_only_what_is_masked_may_differ(printed, is_other):
    assert differs(TABLE, printed) is is_other


def test_a_here_document_is_one_command():
    text = "cat > a <<'END'\n./b\nEND\n./c\n"
    assert statements(text) == ["cat > a <<'END'\n./b\nEND", "./c"]


def test_every_block_of_the_page_is_played():
    kinds = [each.kind for each in blocks(PAGE.read_text(encoding="utf-8"))]
    assert set(kinds) == {"bash", "sql", "text", "yaml"}
    assert kinds.count("bash") > 10 and kinds.count("text") > 15


@pytest.mark.nightly
def test_every_command_prints_what_the_page_shows(server_folder):
    play(server_folder, PAGE.read_text(encoding="utf-8"))
