"""The exit codes of the documentation are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from lake_local import errors
from lake_local.__main__ import INTERRUPTED, READER_GONE

PAGE = Path(__file__).parents[4] / "docs" / "commands.md"


def of_errors():
    found = errors.LakeLocalError.__subclasses__()
    return {each.__name__: each.exit_code for each in found}


def test_the_page_has_every_exit_code_once():
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("| exit code | |\n", 1)[1].split("\n\n", 1)[0]
    codes = [int(code) for code in re.findall(r"^\| (\d+) \| \w", table, re.MULTILINE)]
    known = {0, *of_errors().values(), INTERRUPTED, READER_GONE}
    assert codes == sorted(known)


def test_the_errors_list_their_exit_codes():
    listed = re.findall(r"── (\w+) .* (\d+)\n", errors.__doc__ + "\n")
    assert {name: int(code) for name, code in listed} == of_errors()
