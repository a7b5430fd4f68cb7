"""docs/tutorial.md played: each command of the page, in order, and what it prints.

    python -m tests.servers.tutorial [--timed]

plays it with a state directory, a home and a PostgreSQL of its own; --timed prints the
minutes of each section. Of the page's fenced blocks, `bash` and `sql` are run, `text` is what
the commands before it print, `yaml` is the file that the text before it names. `…` stands for
anything, on a line of its own for any number of lines.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from tests.servers.postgresql import PostgreSql

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
LOGIN = {"username": "reader", "password": "reader-of-shop"}
ANY = "…"
EXIT_CODE = re.compile(r"# exit code (\d+)$")
SECONDS_OF_A_COMMAND = 1800
SCRIPT = """#!/usr/bin/env bash
exec "{root}/run_locally.sh" --state-dir "{state}" "$@"
"""


@dataclass
class Block:
    """A fenced block of the page, with the heading and the text that it is below."""

    kind: str
    text: str
    heading: str
    before: str


@dataclass
class Step:
    """A command, and what the page shows of its output."""

    command: str
    heading: str
    shown: Optional[str] = None


@dataclass
class Played:
    """What a play took: seconds by heading, in the order of the page."""

    seconds: Dict[str, float] = field(default_factory=dict)

    def add(self, heading: str, seconds: float) -> None:
        """Count seconds to a section."""
        self.seconds[heading] = self.seconds.get(heading, 0.0) + seconds


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in their order."""
    part, heading, start = "", "", 0
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        before = page[start : found.start()]
        for level, title in re.findall(r"^(##+) (.+)$", before, re.MULTILINE):
            part = title if level == "##" else part
            heading = title if level == "##" else f"{part}: {title}"
        yield Block(found[1], found[2], heading, before)
        start = found.end()


def statements(text: str) -> List[str]:
    """Split a block into commands: a line each, a here-document with its lines."""
    found: List[str] = []
    end = ""
    for line in text.splitlines():
        if end:
            found[-1] += f"\n{line}"
            end = "" if line == end else end
            continue
        found.append(line)
        opened = re.search(r"<<'(\w+)'", line)
        end = opened[1] if opened else ""
    return found


def differs(shown: str, printed: str) -> bool:
    """Return whether the printed text does not end with what the page shows of it."""
    lines = [_one_line(line) for line in shown.splitlines()]
    parts = [
        r"(?:.*\n)*?" if line == ANY else f"{re.escape(line).replace(ANY, '.*?')}\n"
        for line in lines
    ]
    text = "".join(f"{_one_line(line)}\n" for line in printed.splitlines())
    return not re.search(rf"^{''.join(parts)}\Z", text, re.MULTILINE)


def _one_line(line: str) -> str:
    """A line whose columns are as wide as any."""
    return re.sub(r"-{2,}", "--", " ".join(line.split()))


class Play:
    """A newcomer's machine: a checkout that is typed in, a home, a database."""

    def __init__(self, folder: Path, database: PostgreSql) -> None:
        self.played = Played()
        self._checkout, self._home = folder / "checkout", folder / "you"
        self._exported, self._state = folder / "exported.sh", folder / "state"
        self._database = database
        self._checkout.mkdir()
        self._home.mkdir()
        self._exported.touch()
        (self._checkout / "dags").symlink_to(ROOT / "dags")
        script = self._checkout / "run_locally.sh"
        script.write_text(SCRIPT.format(root=ROOT, state=self._state))
        script.chmod(0o755)

    def play(self, page: str) -> Played:
        """Run the page; AssertionError at the first thing that differs from it."""
        waiting: List[Step] = []
        shown: List[str] = []
        try:
            for block in blocks(page):
                if block.kind == "text":
                    shown.append(block.text)
                    continue
                self._run(waiting, shown)
                waiting, shown = [], []
                if block.kind == "bash":
                    found = statements(block.text)
                    waiting = [Step(each, block.heading) for each in found]
                elif block.kind == "sql":
                    self._database.execute(block.text)
                elif block.kind == "yaml":
                    self._compare_file(block)
            self._run(waiting, shown)
        finally:
            self._bash("./run_locally.sh down")
        return self.played

    def _run(self, steps: List[Step], shown: List[str]) -> None:
        """Run commands; what is shown below them is of the last ones of the script."""
        ours = [each for each in steps if each.command.startswith("./run_locally.sh")]
        assert len(shown) <= len(ours), f"no command prints {shown[0]!r}"
        for step, text in zip(ours[len(ours) - len(shown) :], shown):
            step.shown = text
        for step in steps:
            started = time.monotonic()
            wanted = EXIT_CODE.search(step.command)
            done = self._bash(step.command)
            self.played.add(step.heading, time.monotonic() - started)
            printed = self._as_shown(done.stdout)
            what = f"{step.heading}: {step.command}\nprinted, with exit code"
            what += f" {done.returncode}:\n{printed}"
            assert done.returncode == (int(wanted[1]) if wanted else 0), what
            assert step.shown is None or not differs(
                step.shown, printed
            ), f"{what}\nthe page shows:\n{step.shown}"

    def _bash(self, command: str) -> subprocess.CompletedProcess:
        here = {"HOME": str(self._home), "PYTHONUNBUFFERED": "1"}
        # The page names the port that every PostgreSQL has, unless it is one of tests.
        port = f"host: 127.0.0.1, port: {self._database.port},"
        typed = command.replace("host: 127.0.0.1,", port)
        return subprocess.run(
            [
                "bash",
                "-ec",
                f". {self._exported}\n{typed}\nexport -p > {self._exported}",
            ],
            cwd=self._checkout,
            env={**os.environ, **here},
            input=json.dumps(LOGIN) if " secret set " in command else "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_OF_A_COMMAND,
        )

    def _as_shown(self, printed: str) -> str:
        """The output as the page has it: its home, and the usual state directory."""
        text = printed.replace(f" --state-dir {self._state}", "")
        return text.replace(str(self._home), "/home/you")

    def _compare_file(self, block: Block) -> None:
        named = re.findall(r"`~/([^`]+\.yml)`", block.before)
        text = (self._home / named[-1]).read_text(encoding="utf-8")
        assert not differs(block.text, text), f"{named[-1]} is:\n{text}"


def play(folder: Path, page: str) -> Played:
    """Play a page in a folder, with a database of its own."""
    with PostgreSql(folder / "postgresql") as server:
        server.execute("CREATE DATABASE shop")
        server.execute(f"CREATE ROLE {LOGIN['username']} LOGIN")
        server.execute(f"GRANT pg_read_all_data TO {LOGIN['username']}")
        server.database = "shop"
        return Play(folder, server).play(page)


def main(say: Callable[[str], None] = print) -> None:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--timed", action="store_true", help="print minutes by section")
    args = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="lake-tutorial-") as folder:
        Path(folder).chmod(0o755)
        played = play(Path(folder), PAGE.read_text(encoding="utf-8"))
    rows: List[Tuple[str, float]] = list(played.seconds.items())
    if args.timed:
        for heading, seconds in [*rows, ("all of it", sum(s for _, s in rows))]:
            say(f"{seconds / 60:6.1f} min  {heading}")


if __name__ == "__main__":
    main()
