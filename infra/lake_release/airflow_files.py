"""Files that MWAA installs: requirements.txt, startup.sh and plugins.zip.

MWAA takes them in when its environment is updated, which restarts it. So they are the
same bytes for the same content, and a release that does not change them updates nothing.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Dict, Mapping, Optional

from lake_release.errors import ReleaseError

REQUIREMENTS, STARTUP, PLUGINS = "requirements.txt", "startup.sh", "plugins.zip"
OFFLINE = "--no-index\n--find-links /usr/local/airflow/plugins\n"
"""Folder of plugins.zip on MWAA: the network of docs/deploy.md has no package index."""

EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
"""A zip without files: MWAA forgets no plugins.zip, so this one takes its place."""

_PACKED = (".py", ".html", ".js")
_IGNORE = ".airflowignore"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write(
    folder: Path,
    *,
    project: Path,
    environment: str,
    runs: str,
    wheels: Optional[Path],
) -> None:
    """Write the files. Raises ReleaseError where the folder of wheels has none.

    `runs` is the root of the runs, for the plugin: MWAA's web server has no DAG files.
    """
    folder.mkdir(parents=True)
    requirements = (project / "requirements" / "airflow.txt").read_text("utf-8")
    packed = plugin_files(project / "plugins", wheels)
    if wheels:
        requirements = OFFLINE + requirements
    (folder / REQUIREMENTS).write_text(requirements, encoding="utf-8")
    startup = f"export LAKE_ENVIRONMENT={environment}\nexport LAKE_RUNS={runs}\n"
    (folder / STARTUP).write_text(startup, encoding="utf-8")
    if packed:
        content = {name: file.read_bytes() for name, file in packed.items()}
        (folder / PLUGINS).write_bytes(added(EMPTY_ZIP, content))


def plugin_files(plugins: Optional[Path], wheels: Optional[Path]) -> Dict[str, Path]:
    """Return the files of plugins.zip by their names in it. Raises ReleaseError where
    the folder of wheels has none."""
    packed = {
        file.relative_to(plugins).as_posix(): file
        for file in (plugins.rglob("*") if plugins else ())
        if plugins and (file.suffix in _PACKED or file.name == _IGNORE)
    }
    if wheels is None:
        return packed
    found = {file.name: file for file in wheels.glob("*.whl")}
    if not found:
        raise ReleaseError(
            f"--wheels {wheels}: no *.whl found. See docs/deploy.md for how to "
            "download them."
        )
    return {**packed, **found}


def added(archive: bytes, files: Mapping[str, bytes]) -> bytes:
    """Return a zip with these files behind its own, whose bytes stay as they are."""
    target = io.BytesIO(archive)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as opened:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(entry, files[name])
    return target.getvalue()
