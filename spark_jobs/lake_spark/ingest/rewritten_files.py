"""Contents that an erase put in the place of landing files, known to whoever looks next.

An erase puts a content first, and its ETag on the list of erased keys after that.
Killed in between, the list has the content's hash alone: it is looked up here.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import List, Tuple

from lake_spec.diagnostics.warnings import WarningId
from lake_spec.state.erase_request import folder_of
from lake_spark.errors import ErasedKeysLost
from lake_spark.ingest import same_content
from lake_spark.landing.files import LandingFile, list_landing
from lake_spark.landing.ingested_files import Compared
from lake_spark.tables.erased_keys import Erased
from lake_spark.tables.table_run import FileRun


def known_contents(run: FileRun) -> Erased:
    """Return the table's list of erased keys, with the ETags of all that was put.

    What is learned goes on the list, but for a dry run. Where no erase was killed
    while it put files there is nothing to learn, and landing is not listed.
    """
    erased = run.erased_keys.load()
    waiting = [path for path, each in erased.files.items() if not each.is_put]
    if not waiting:
        return erased
    there = {e.path: e for e in list_landing(run.store, run.landing, ["**"])}
    files = dict(erased.files)
    for path in waiting:
        file, known = there.get(path), files[path]
        if file is None or file.etag in (known.was, *known.etags):
            continue
        if sha256(run.store.read(file.uri)) == known.sha256:
            etags = (*known.etags, file.etag)
            files[path] = replace(known, etags=etags, is_put=True)
    found = replace(erased, files=files)
    if found != erased and not run.dry_run:
        run.erased_keys.save(found)
    return found


def refuse_lost_list(run: FileRun) -> None:
    """Refuse to fill a table again where keys were erased and their list is gone.

    To be asked before the first rows of a change log. Receipts of requests say that
    keys were erased; a request that was not carried out to its end is warned of.
    """
    if run.environment.erase_secret is None or run.erased_keys.load().is_there:
        return
    folder = f"{folder_of(run.environment.runs)}/{run.spec.domain}/"
    for each in run.store.list(folder):
        done, asked = _erased_by(run, each.uri)
        where = (
            f"{each.uri}, and there is no list of erased keys at {run.erased_keys.uri}"
        )
        remedy = (
            "Restore the list from the copy of the landing files, or erase the same keys "
            f"again by the DAG {run.spec.domain}_erase before the load."
        )
        if done:
            raise ErasedKeysLost(
                f"{run.spec.full_name}: {done} key(s) were erased by {where}: a load would "
                f"bring them back. {remedy}"
            )
        if asked:
            run.report.warn(
                WarningId.PENDING_ERASE,
                f"{asked} key(s) are to be erased by {where}. If they were erased before, "
                f"the list is lost. {remedy}",
            )


def _erased_by(run: FileRun, uri: str) -> Tuple[int, int]:
    """Return how many keys of the table were erased by a request, and are to be."""
    try:
        data = json.loads(run.store.read(uri))
        names = {run.spec.name, run.spec.stored_name}
        done = sum(data.get("erased", {}).get(name, 0) for name in names)
        return done, sum(len(data.get("keys", {}).get(name, ())) for name in names)
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0, 0  # no request: an erase will say so


def compared(run: FileRun) -> Compared:
    """Make what says whether files whose ETags differ have contents that are to be there.

    Those that were ingested, or that an erase put: then their ETags go on its list.
    """
    return same_content.compared(run.store, lambda files: _put_by_an_erase(run, files))


def _put_by_an_erase(run: FileRun, files: List[LandingFile]) -> List[LandingFile]:
    erased = known_contents(run)
    found = [
        file
        for file in files
        if file.path in erased.files
        and sha256(run.store.read(file.uri)) == erased.files[file.path].sha256
    ]
    listed = dict(erased.files)
    for file in found:
        known = listed[file.path]
        listed[file.path] = replace(known, etags=(*known.etags, file.etag), is_put=True)
    if found and not run.dry_run:
        run.erased_keys.save(replace(erased, files=listed))
    return found


def sha256(content: bytes) -> str:
    """Return the hash by which a content is known before it is put."""
    return hashlib.sha256(content).hexdigest()
