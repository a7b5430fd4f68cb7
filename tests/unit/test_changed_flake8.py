"""flake8 sees each file until it has passed as it is, and again when anything changes."""

from __future__ import annotations

import subprocess

import pytest

from tests import changed_flake8

pytestmark = pytest.mark.nightly  # by day: each run of fast checks what has changed
WRONG = "import os\n"
LONG = {"config": "[flake8]\nmax-line-length = 100\n"}


@pytest.fixture
def checked(tmp_path, monkeypatch, capfd):
    """Write files into a repository; what is new, and what flake8 says of it."""
    monkeypatch.setenv("PYTHONPATH", str(changed_flake8.ROOT))
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)

    def check(**texts):
        for name, text in {"config": "[flake8]\n", **texts}.items():
            (tmp_path / {"config": ".flake8"}.get(name, f"{name}.py")).write_text(text)
        code = changed_flake8.main()
        first, *faults = capfd.readouterr().out.splitlines()
        return code, first.split()[1], [each.split()[1] for each in faults]

    return check


def test_a_wrong_file_is_named_until_it_is_right_and_a_right_one_is_seen_once(checked):
    assert checked(long=f"a = '{'x' * 90}'\n", wrong=WRONG, **LONG) == (
        1,
        "2",
        ["F401"],
    )
    assert checked(wrong="b = 1\n", **LONG) == (0, "2", [])
    assert checked(**LONG) == (0, "0", [])
    assert checked() == (1, "2", ["E501"])  # other settings judge all again
