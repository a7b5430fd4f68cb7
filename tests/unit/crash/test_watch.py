"""The watch that says when to kill, and which files a killed process was writing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

from tests.crash import victim
from tests.crash.watch import Watch

WRITER = """
import pathlib, sys
whole = pathlib.Path(sys.argv[1], "whole"); whole.write_text("all of it")
half = open(pathlib.Path(sys.argv[1], "half"), "w"); half.write("a part"); half.flush()
read = open(whole)
print("written", flush=True); sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    """A process that has written one file and is writing another."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdout.readline() == b"written\n"
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def test_every_path_that_appears_or_disappears_is_a_change(tmp_path):
    (tmp_path / "old").write_text("")
    watch = Watch(str(tmp_path))
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    (tmp_path / "folder" / "deeper" / "new").write_text("")
    watch.look()
    (tmp_path / "old").unlink()
    watch.look()
    watch.look()
    assert watch.changes == ["+folder", "+folder/deeper", "+folder/deeper/new", "-old"]
    assert watch.first(re.compile("new$")) == 3
    assert watch.first(re.compile("newer$")) is None


def test_the_checksums_of_a_disk_are_none(tmp_path):
    watch = Watch(str(tmp_path))
    (tmp_path / ".part.parquet.crc").write_text("")
    watch.look()
    assert watch.changes == []


def test_a_file_that_is_open_for_writing_is_unfinished(tmp_path, writer):
    written = [p for p in victim.written_by_group(writer.pid) if str(tmp_path) in p]
    assert written == [str(tmp_path / "half")]


def test_without_proc_lsof_tells_the_same(tmp_path, monkeypatch):
    lsof = tmp_path / "lsof"
    lsof.write_text(
        '#!/bin/sh\n[ "$5" = 4711 ] || exit 1\n'
        "printf 'p4711\\ng4711\\nf3\\nar\\nn/lake/read\\nf4\\naw\\nn/lake/half\\n'\n"
        "printf 'fmem\\na \\nn/lake/mapped\\nf5\\nau\\nn/lake/both\\n'\n"
    )
    lsof.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(victim.os.path, "isdir", lambda path: False)
    assert list(victim.written_by_group(4711)) == ["/lake/half", "/lake/both"]
