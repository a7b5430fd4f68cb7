"""What README and the tutorial show is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")


def blocks(language: str, page: str = README) -> list:
    found = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    return [text for kind, text in found if kind == language]


def test_the_first_yaml_is_the_museums_own_spec():
    shown = yaml.safe_load(blocks("yaml")[0])
    real = yaml.safe_load((ROOT / "dags/tables/moma/artists.yml").read_text("utf-8"))
    assert shown == real


@pytest.mark.parametrize(
    "command",
    sorted(
        {
            line
            for page in (README, TUTORIAL)
            for block in blocks("bash", page)
            for line in block.splitlines()
            if line.startswith("./")
        }
    ),
)
def test_every_command_is_one_that_the_script_takes(command):
    from lake_local.cli.parser import parse

    words = re.findall(r'"[^"]*"|\S+', command.split("  #")[0])
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


@pytest.mark.parametrize("figure", ["14,839", "15,434"])
def test_the_tutorial_has_the_figures_of_the_demo(figure):
    assert figure in TUTORIAL


def test_the_tutorials_spec_is_what_onboard_writes_of_its_files(tmp_path):
    from lake_local.onboard.files import Request, planned
    from lake_local.onboard.stores import LocalFolder
    from lake_local.onboard.writing import write

    folder = tmp_path / "exports/customers"
    folder.mkdir(parents=True)
    files = re.findall(r"^printf '(.*)' > \S+/(\S+\.csv)$", TUTORIAL, re.MULTILINE)
    for text, name in files:
        (folder / name).write_text(text.replace("\\n", "\n"))
    drafts = planned(LocalFolder(folder.parent), Request("shop", "", (), ""))
    write(drafts, tmp_path / "tables", "shop", owner="", force=False)
    written = (tmp_path / "tables/shop/customers.yml").read_text("utf-8")
    first, *shown = blocks("yaml", TUTORIAL)[0].splitlines()
    assert first == "# yaml-language-server: $schema=…/docs/schema/table.schema.json"
    assert len(files) == 2 and written.splitlines()[1:] == shown


WITHOUT_THE_SCRIPT = {
    "docs/reference/README.md": "what a machine without anything of ours runs",
    "docs/architecture.md": "the first lines of modules",
}
"""Pages that name a program of ours without `./run_locally.sh`, and why."""


def names_a_program(text: str) -> bool:
    """Whether a page lets its reader type what the one command does."""
    ours = (
        r"-m lake_(?:desk|infra|release|acceptance)\b|infra/(?:release|acceptance)\.py"
    )
    return re.search(ours, text) is not None


def test_pages_name_the_one_command():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        if path.parent.name != "decisions"
        and names_a_program(path.read_text(encoding="utf-8"))
    }
    assert found == set(WITHOUT_THE_SCRIPT)


@pytest.mark.parametrize(
    "line", ["python -m lake_desk validate", "infra/release.py plan prod"]
)
def test_a_page_that_names_another_program_is_seen(line):
    assert names_a_program(f"Run `{line}`.")
