"""Whether a database is ready for its changes to be captured, and what it has of the slot."""

from __future__ import annotations

from typing import Any, Optional

from lake_local.capture.request import Capture
from lake_local.capture.slots import Found
from lake_local.errors import LakeLocalError, Missing
from lake_local.onboard.catalog_process import NoAnswer, answer_of
from lake_local.onboard.server import Server
from lake_local.text import progress
from lake_local.workspace.project import Project, require_drivers

_MODULE = "lake_local.capture.postgresql"
_NO_LIMIT = "-1"


def require_ready(
    project: Project, capture: Capture, server: Server
) -> Optional[Found]:
    """Return the slot, if it is there.

    Raise Missing with all that the database lacks, and the statements that add it. Warn
    where the server has no limit to the log that a slot may keep.
    """
    require_drivers(project)
    asked = {"tables": capture.tables, "name": capture.name}
    found = _answer(project, capture, server, **asked)
    where = f"{server.host}:{server.port}/{server.database}"
    if found["lacks"]:
        lines = [f"  {what}{': ' if sql else ''}{sql}" for what, sql in found["lacks"]]
        raise Missing(
            f"{where} is not ready for its changes to be captured:\n"
            + "\n".join(lines)
            + "\nRun the statements there as its owner (docs/sources/postgresql.md)."
        )
    if found["kept"] == _NO_LIMIT:
        progress(
            f"warning: {where} keeps its log without a limit for a slot that nobody reads"
            " (max_slot_wal_keep_size is -1): its disk can fill while this command does"
            " not run. To limit it, as its owner: ALTER SYSTEM SET max_slot_wal_keep_size"
            " = '10GB'; SELECT pg_reload_conf();"
        )
    return _slot(found)


def look(project: Project, capture: Capture, server: Server) -> Optional[Found]:
    """Return the slot as it is now; None without one."""
    return _slot(_answer(project, capture, server))


def drop(project: Project, capture: Capture, server: Server) -> bool:
    """Drop the slot; return whether there was one."""
    require_drivers(project)
    return _slot(_answer(project, capture, server, drop=True)) is not None


def _answer(
    project: Project, capture: Capture, server: Server, **asked: Any
) -> dict[str, Any]:
    asked["slot"] = capture.slot
    try:
        code = project.root / "local"
        answer: dict[str, Any] = answer_of(
            project.spark_python, code, _MODULE, server, asked
        )
        return answer
    except NoAnswer as error:
        raise LakeLocalError(str(error)) from None


def _slot(found: dict[str, Any]) -> Optional[Found]:
    return Found(**found["slot"]) if found["slot"] else None
