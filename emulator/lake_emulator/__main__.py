"""`python -m lake_emulator --state-dir DIR --port N`: serve until asked to stop."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lake_emulator.clients import DEFAULT_REGION
from lake_emulator.emr.step_rules import StepRules
from lake_emulator.policies.documents import PolicyError
from lake_emulator.private_folder import NotPrivate
from lake_emulator.server import StateDirectoryInUse, serve
from lake_emulator.state_mark import NotAStateDirectory


def main(argv: list[str] | None = None, rules: StepRules = StepRules()) -> int:
    """Serve as the arguments say, and return the exit code; `rules` are for its steps."""
    parser = argparse.ArgumentParser(
        prog="python -m lake_emulator",
        description="The local AWS emulator, on loopback.",
    )
    parser.add_argument("--state-dir", type=Path, required=True, help="state directory")
    parser.add_argument("--port", type=int, required=True, help="port on 127.0.0.1")
    parser.add_argument("--region", default=DEFAULT_REGION, help="region of ARNs")
    args = parser.parse_args(argv)
    try:
        serve(args.state_dir.resolve(), port=args.port, region=args.region, rules=rules)
    except (StateDirectoryInUse, NotAStateDirectory, NotPrivate, PolicyError) as reason:
        print(reason, file=sys.stderr)
        return 1
    except OSError as reason:
        words = f"127.0.0.1:{args.port}: {reason.strerror}. Choose another --port."
        print(words, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
