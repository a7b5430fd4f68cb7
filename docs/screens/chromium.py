"""The machine's own Chromium: nothing of it is installed here."""

from __future__ import annotations

import os
import shutil
from typing import Mapping

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_MACOS = "/Applications/Chromium.app/Contents/MacOS/Chromium"


class Missing(Exception):
    """There is no Chromium; says how to get one."""


def executable(environ: Mapping[str, str] = os.environ) -> str:
    """Its path; Missing without one."""
    names = (environ["CHROMIUM"],) if "CHROMIUM" in environ else (*NAMES, ON_MACOS)
    for name in names:
        found = shutil.which(name, path=environ.get("PATH"))
        if found:
            return found
    raise Missing(
        f"Chromium is missing (looked for {', '.join(names)}): apt-get install chromium,"
        " or brew install --cask chromium, or set CHROMIUM to where it is"
    )
