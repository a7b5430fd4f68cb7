"""Contents that an erase put in the place of landing files, known to whoever looks next.

An erase puts a content first, and its ETag on the list of erased keys after that.
Killed in between, the list has the content's hash alone: it is looked up here.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from lake_spark.erased import Erased
from lake_spark.landing import list_landing
from lake_spark.table_run import TableRun


def known_contents(run: TableRun) -> Erased:
    """The table's list of erased keys, with the ETags of all that was put.

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


def sha256(content: bytes) -> str:
    """The hash by which a content is known before it is put."""
    return hashlib.sha256(content).hexdigest()
