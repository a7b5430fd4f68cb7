"""Takes the pictures of docs/screens.md; see docs/screens.sh."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional, Sequence

from docs.screens import browser, chromium
from docs.screens.lake import ROOT, CommandFailed, Lake
from docs.screens.pages import PICTURES

FOLDER = ROOT / "docs" / "pictures" / "airflow"


def main(argv: Optional[Sequence[str]] = None) -> int:
    """0 when all are taken, 1 if a run is not as it should be, 3 without a Chromium."""
    args = _arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        chromium.executable()
        with _folder(args.state_dir) as folder:
            _take(Lake(folder), args.pictures)
    except chromium.Missing as error:
        print(f"docs/screens.sh: {error}", file=sys.stderr)
        return 3
    except CommandFailed as error:
        print(f"docs/screens.sh: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _arguments(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="docs/screens.sh", description=__doc__)
    parser.add_argument(
        "--state-dir",
        metavar="DIR",
        type=Path,
        help="keep the lake of the pictures in DIR",
    )
    parser.add_argument("pictures", metavar="PICTURE", nargs="*", help="only these")
    args = parser.parse_args(argv)
    unknown = sorted(set(args.pictures) - set(PICTURES))
    if unknown:
        choices = ", ".join(PICTURES)
        parser.error(f"no picture {', '.join(unknown)}; choose of {choices}")
    return args


@contextmanager
def _folder(kept: Optional[Path]) -> Iterator[Path]:
    """Where the lake is: kept, or gone at the end."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="lake-screens-") as made:
        yield Path(made)


def _take(lake: Lake, chosen: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with lake.up() as airflow:
        runs = lake.runs()
        with browser.signed_in(airflow) as page:
            for name in chosen or PICTURES:
                file = FOLDER / f"{name}.png"
                file.write_bytes(browser.take(page, PICTURES[name], runs))
                print(f"{file}  {file.stat().st_size // 1024} KB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
