"""`python -m lake_local.emulator --state-dir DIR --port N`: the emulator for our own steps."""

from __future__ import annotations

import sys

from lake_emulator.__main__ import main
from lake_local.emulator.permitted_steps import OWN_STEPS

if __name__ == "__main__":
    sys.exit(main(rules=OWN_STEPS))
