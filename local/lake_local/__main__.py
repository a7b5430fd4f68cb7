"""`python -m lake_local`, which run_locally.sh calls: from arguments to an exit code.

Errors become messages here, and nowhere else.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, Sequence

from lake_spec.diagnostics.errors import LakeError

from lake_local.airflow.rest import ApiError
from lake_local.airflow.settings import shut_out_real_accounts
from lake_local.cli.parser import PROGRAM, parse
from lake_local.errors import LakeLocalError

INTERRUPTED = 130
READER_GONE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 for success, else as `errors.py` says."""
    args = parse(sys.argv[1:] if argv is None else argv)
    if not args.uses_aws:
        shut_out_real_accounts()
    handle_signals()
    try:
        status: int = args.run(args)
        return status
    except LakeLocalError as error:
        return _failed(str(error), error.exit_code)
    except (LakeError, ApiError) as error:
        return _failed(str(error), 1)
    except KeyboardInterrupt:
        return _failed("stopped", INTERRUPTED)
    except BrokenPipeError:
        # The reader (`| head`) has ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE


def handle_signals() -> None:
    """Stop cleanly on SIGINT, SIGTERM and SIGHUP; nohup's ignored SIGHUP stays so."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(signum: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _failed(message: str, code: int) -> int:
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
