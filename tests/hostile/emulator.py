"""The emulator as a process that knows two people by their roles.

    python -m tests.hostile.emulator STATE PORT

It takes the policies that lie in the state directory. Callers are known as its own steps
are, by the id of their key: that of the role.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lake_local.aws.policies.judge import FILE
from lake_local.aws.server import Emulator


def main(home: Path, port: int) -> None:
    roles = json.loads((home / FILE).read_text())["roles"]
    emulator = Emulator(home, port=port)
    emulator.judge._steps.update({name: name for name in roles})
    emulator.start()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
