"""Owns whether a landing file has the content that was ingested under its name.

An ETag is no hash of the content where S3 encrypts by KMS or a file was uploaded in
parts: the same bytes put again have another. So size and checksum are noted when a file
is ingested, and where an ETag differs they decide. Decision 042.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Dict, List, Sequence, Tuple

from lake_spec.state.checksums import s3_checksum
from lake_spark.landing.files import LandingFile
from lake_spark.landing.ingested_files import Compared, IngestedFile
from lake_spark.storage.object_store import ObjectStore, StoredObject

_AT_ONCE = 8
"""Requests to the store at the same time."""

Pair = Tuple[IngestedFile, LandingFile]
Choice = Callable[[List[LandingFile]], Sequence[LandingFile]]


def checksums(store: ObjectStore, files: Sequence[LandingFile]) -> Dict[str, str]:
    """Return the checksums of the listed contents, by path, where there are any."""
    if not files:
        return {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(store.checksum, map(_stored, files)))
    return {file.path: each for file, each in zip(files, found) if each}


def compared(store: ObjectStore, is_ours: Choice) -> Compared:
    """Make what compares files whose ETags differ, at a request or two for each.

    `is_ours` chooses, of files with other contents, those that are to be there.
    """

    def compare(pairs: Sequence[Pair]) -> Sequence[bool]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            same = list(pool.map(lambda pair: _is_same(store, *pair), pairs))
        others = [file for (_, file), is_same in zip(pairs, same) if not is_same]
        ours = {file.path for file in is_ours(others)} if others else set()
        return [found or file.path in ours for (_, file), found in zip(pairs, same)]

    return compare


def _is_same(store: ObjectStore, before: IngestedFile, file: LandingFile) -> bool:
    if before.checksum is None or before.size != file.size:
        return False
    now = store.checksum(_stored(file))
    if now is None or now == before.checksum:
        return now is not None
    algorithm, _, value = before.checksum.partition(":")
    if now.startswith(f"{algorithm}:"):
        return False
    return s3_checksum(algorithm, store.read(file.uri)) == value


def _stored(file: LandingFile) -> StoredObject:
    return StoredObject(file.uri, file.etag, file.size, file.landed_at)
