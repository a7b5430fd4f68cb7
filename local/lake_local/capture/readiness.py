"""Whether a database is ready for its changes to be captured."""

from __future__ import annotations

from lake_local.capture.request import Capture
from lake_local.errors import LakeLocalError, Missing
from lake_local.onboard.catalog_process import NoAnswer, answer_of
from lake_local.onboard.server import Server
from lake_local.workspace.project import Project, require_drivers

_MODULE = "lake_local.capture.postgresql"


def require_ready(project: Project, capture: Capture, server: Server) -> None:
    """Raise Missing with all that the database lacks, and the statements that add it."""
    require_drivers(project)
    asked = {"tables": capture.tables, "name": capture.name}
    try:
        found = answer_of(
            project.spark_python, project.root / "local", _MODULE, server, asked
        )
    except NoAnswer as error:
        raise LakeLocalError(str(error)) from None
    if found:
        where = f"{server.host}:{server.port}/{server.database}"
        lines = [f"  {what}{': ' if sql else ''}{sql}" for what, sql in found]
        raise Missing(
            f"{where} is not ready for its changes to be captured:\n"
            + "\n".join(lines)
            + "\nRun the statements there as its owner (docs/sources/postgresql.md)."
        )
