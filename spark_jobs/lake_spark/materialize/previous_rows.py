"""What current and history hold of the affected keys, folded instead of read.

A table holds the fold of the log up to the commit that it was built from. So what it
holds of some keys follows from their earlier events, which are read anyway, and the
table itself need not be searched for them: its size costs nothing. Decision 033 says
the figures, and how it is known that the table was written by this very fold.
"""

from __future__ import annotations

from typing import Dict, Mapping, Optional

from lake_spec.model import SurrogateKind
from lake_spark.landing.ingested_files import IngestedFiles
from lake_spark.storage import session
from lake_spark.storage.commit_values import CommitValue
from lake_spark.storage.hudi_table import HudiTable
from lake_spark.tables.table_run import FileRun

VERSION = "3"
"""The fold (CommitValue.FOLD), raised by a change after which the same events make other
rows. Tables of another version are read, until they are rebuilt.
"""

BEFORE_FORKS = "2"
"""The version that differs only where several creates name one old key."""


def rows(run: FileRun, table: HudiTable, ingested: IngestedFiles) -> int:
    """Return how many rows log, current and this table have at least, by their commits.

    More than a few where a release wrote the log that did not count them.
    """
    logged = session.FEW_ROWS + 1 if ingested.accepted is None else ingested.accepted
    built = (each.last_count(CommitValue.ROWS) for each in (run.current, table))
    return max(logged, *built)


def said(table: HudiTable, since: Optional[str]) -> Dict[str, str]:
    """Return what the next commit says of the fold: a build of some keys says no more."""
    if since is None:
        return {CommitValue.FOLD: VERSION}
    kept = table.metadata_with(CommitValue.LOG_INSTANT).get(CommitValue.FOLD)
    return {} if kept is None else {CommitValue.FOLD: kept}


def is_folded(run: FileRun, table: HudiTable, ingested: IngestedFiles) -> bool:
    """Return whether a table's rows can be known from its log alone, and should be.

    Not where the log was made again since, so that it lacks the commit the table was
    built from; not where files were retracted since, for the log shows the table without
    them; where floats arrived for doubles, which changes how rows compare; where a column
    was declared as dropped since, maybe; or where versions have numbers of their own.
    """
    spec, built = run.spec, table.metadata_with(CommitValue.LOG_INSTANT)
    same = {VERSION} if ingested.contents.has_key_changes else {VERSION, BEFORE_FORKS}
    return (
        built.get(CommitValue.FOLD) in same
        and int(built.get(CommitValue.ROWS, 0)) > session.FEW_ROWS
        and not ingested.contents.float_paths
        and _knows_what_was_retracted(built, ingested)
        and built[CommitValue.LOG_INSTANT] in (c.instant for c in run.log.commits())
        and not run.log.narrow_paths()
        and not any(column.dropped for _, column in spec.columns)
        and spec.scope is None
        and spec.history.surrogate_key.kind is SurrogateKind.DETERMINISTIC
    )


def _knows_what_was_retracted(
    built: Mapping[str, str], ingested: IngestedFiles
) -> bool:
    """Return whether a table was built after the last reprocess of its log."""
    if not ingested.contents.retracted:
        return True
    return built.get(CommitValue.REPROCESSES) == str(ingested.reprocesses)
