"""The acceptance run of infra/ on the emulator.

    python -m tests.acceptance

Starts an emulator with a state directory of its own, plays the checks that need no
account, and stops it. The last line says `N checks, M failed`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from acceptance import main

from tests.acceptance.emulator import emulator

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="lake-acceptance-") as folder:
        with emulator(Path(folder)):
            code = main(["local", "--yes", *sys.argv[1:]])
    sys.exit(code)
