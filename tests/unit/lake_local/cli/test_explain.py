"""A message's section of the catalogue is printed by its id."""

import pytest

from lake_local.cli.commands import explain
from lake_local.cli.parser import parse
from lake_local.errors import BadRequest

PAGE = """\
# Messages

How to read it.

## Runs

### TooManyBadRows
More rows are bad than the table allows.

Fix: Correct the files.

### LateSource
No file landed.

## Specs
What `validate` finds.

### key-has-columns
Refuse a table without a key.

Fix: Name the columns.
"""


@pytest.fixture
def explained(tmp_path, capsys):
    page = tmp_path / "messages.md"
    page.write_text(PAGE)

    def explain_id(asked):
        args = parse(["explain", asked, "--page", str(page)])
        assert args.run(args) == 0
        return capsys.readouterr().out

    return explain_id


def test_the_section_of_an_id_is_printed(explained):
    assert explained("TooManyBadRows") == (
        "TooManyBadRows\n\nMore rows are bad than the table allows.\n\n"
        "Fix: Correct the files.\n"
    )


def test_a_section_ends_at_the_next_heading_of_any_level(explained):
    assert explained("LateSource") == "LateSource\n\nNo file landed.\n"


@pytest.mark.parametrize("asked", ["[key-has-columns]", "key-has-columns:"])
def test_an_id_may_be_copied_with_its_marks(explained, asked):
    assert explained(asked).startswith("key-has-columns\n\nRefuse a table")


def test_an_unknown_id_is_refused_with_the_nearest(explained):
    words = "no message 'key-has-colums'. Did you mean 'key-has-columns'"
    with pytest.raises(BadRequest, match=words):
        explained("key-has-colums")


def test_a_page_that_does_not_exist_is_named(tmp_path):
    args = parse(["explain", "LateSource", "--page", str(tmp_path / "none.md")])
    with pytest.raises(BadRequest, match="none.md: no such file. Write the path of"):
        args.run(args)


def test_a_heading_is_an_id_with_or_without_code_marks():
    assert explain.sections_of("### `A-b`\ntext\n") == {"A-b": "text"}
