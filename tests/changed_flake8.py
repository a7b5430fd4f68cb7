"""Run flake8 on files that it has not passed as they are: it has no cache of its own.

    python -m tests.changed_flake8

What flake8 says of a file depends on the file, the settings and the versions alone, so a
digest of these is kept for each file that passed, in .local/flake8.json. A run of all files
takes a minute of CPU time, one after a change a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Dict, List, Set

ROOT = Path(__file__).resolve().parents[1]
PASSED = Path(".local", "flake8.json")
FLAKE8 = [sys.executable, "-m", "tests.less_garbage", "flake8"]


def main() -> int:
    """Check what is new, and return flake8's exit code."""
    digests = _digests()
    passed = _passed()
    new = [file for file, digest in digests.items() if digest not in passed]
    print(f"flake8: {len(new)} of {len(digests)} files are new", flush=True)
    code = subprocess.run([*FLAKE8, *new]).returncode if new else 0
    if code == 0:
        PASSED.parent.mkdir(exist_ok=True)
        new_list = PASSED.with_suffix(".new")  # an interrupt leaves no half list
        new_list.write_text(json.dumps(sorted(digests.values())))
        new_list.replace(PASSED)
    return code


def _passed() -> Set[str]:
    """The digests that passed; none where the list is missing or cannot be read."""
    try:
        return set(json.loads(PASSED.read_text()))
    except (OSError, ValueError):
        return set()


def _digests() -> Dict[str, str]:
    """The digest of each file of Python that git has or would add, with what judges it."""
    judge = _told([*FLAKE8, "--version"]) + Path(".flake8").read_bytes()
    listed = _told(["git", "ls-files", "-co", "--exclude-standard", "-z", "*.py"])
    return {
        name: sha256(b"\0".join([judge, name.encode(), path.read_bytes()])).hexdigest()
        for name in listed.decode().split("\0")
        for path in [Path(name)]
        if path.is_file()
    }


def _told(command: List[str]) -> bytes:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    sys.exit(main())
