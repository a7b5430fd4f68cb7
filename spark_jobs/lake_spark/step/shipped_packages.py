"""Packages that a release brings for its steps, next to the code."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from lake_spec.layout.release_files import PACKAGES


def unpack() -> None:
    """Unpack the zip that `--py-files` put on the path; its packages come first.

    botocore reads its models and certificates as files, which it cannot within a zip.
    """
    zipped = next((each for each in sys.path if Path(each).name == PACKAGES), None)
    if zipped is None:
        return
    folder = tempfile.mkdtemp(prefix="lake-packages-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(folder)
    sys.path.insert(0, folder)
