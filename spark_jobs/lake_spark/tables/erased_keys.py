"""What was erased from a table: keyed hashes of keys, and which records are blank.

The list is one object next to the landing files: a copy of them has it too. Whatever takes
leaves out rows whose key is on it and records that were blanked, and counts
them. It names nobody without the secret of the environment, of which there may be earlier
versions. Decision 021.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field, replace
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lake_spec.state.state_format import (
    UnreadableState,
    from_fields,
    parse_state,
    state_text,
    to_fields,
)
from lake_spark.changelog.schema import LogColumn
from lake_spark.errors import WrongSecret
from lake_spark.landing.files import LandingFile
from lake_spark.storage.object_store import ObjectStore

FORMAT = 2
"""The version of a list with keys under several secrets, of which version 1 knows one."""

LeftOut = Mapping[str, Sequence[int]]
"""Per landing path the numbers of its records that are not ingested."""


@dataclass(frozen=True)
class Rewritten:
    """A landing file some records of which are blank; `records` has their numbers.

    `was` is the ETag it was ingested with, `etags` are those of what was put in its
    place. The last is noted after the object was put (`is_put`): until then `sha256`
    identifies it.
    """

    was: str
    sha256: str
    records: Tuple[int, ...]
    etags: Tuple[str, ...] = ()
    is_put: bool = False
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Erased:
    """The list of a table; `check` says whether a secret is the one it was made with.

    `earlier` has the hashes that were made with earlier secrets, by the check of each.
    """

    check: str = ""
    hashes: FrozenSet[str] = frozenset()
    earlier: Mapping[str, FrozenSet[str]] = field(default_factory=dict)
    files: Dict[str, Rewritten] = field(default_factory=dict)
    unknown: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def is_there(self) -> bool:
        """Return whether keys were ever erased, as far as the list shows."""
        return self.check != ""

    @property
    def by_check(self) -> Dict[str, FrozenSet[str]]:
        """Return the hashes of all keys by the check of the secret they were made with."""
        return {**self.earlier, **({self.check: self.hashes} if self.is_there else {})}

    def blank(self, file: LandingFile) -> Tuple[int, ...]:
        """Return the numbers of a landing file's records that were erased in place."""
        known = self.files.get(file.path)
        return known.records if known and file.etag in known.etags else ()

    @property
    def etags(self) -> Dict[Tuple[str, str], Tuple[str, ...]]:
        """Return (path, ETag before) -> those after, of files that were rewritten."""
        return {(path, each.was): each.etags for path, each in self.files.items()}


class ErasedObject:
    """The object that holds the list of one table.

    `old_uri` is where earlier releases put it: it is read where there is no other.
    """

    def __init__(
        self,
        store: ObjectStore,
        uri: str,
        table: str,
        *,
        release: str = "",
        old_uri: Optional[str] = None,
    ) -> None:
        self._store = store
        self.uri = uri
        self._table = table
        self._release = release
        self._old_uri = old_uri

    def load(self) -> Erased:
        """Load the list; an empty one where nothing was ever erased."""
        for uri in filter(None, (self.uri, self._old_uri)):
            try:
                return self._parsed(self._store.read(uri), uri)
            except KeyError:
                continue
        return Erased()

    def _parsed(self, content: bytes, uri: str) -> Erased:
        what = f"the list of erased keys of {self._table}"
        data = parse_state(
            content, what=what, where=uri, reads=FORMAT, release=self._release
        )
        try:
            files = {
                path: from_fields(
                    Rewritten,
                    {
                        **each,
                        "records": tuple(each["records"]),
                        "etags": tuple(each["etags"]),
                    },
                )
                for path, each in data["files"].items()
            }
            earlier = {
                check: frozenset(hashes)
                for check, hashes in data.get("earlier", {}).items()
            }
            hashes = {"hashes": frozenset(data["hashes"]), "earlier": earlier}
            return from_fields(Erased, {**data, **hashes, "files": files})
        except (AttributeError, KeyError, TypeError) as error:
            raise UnreadableState(
                f"{what} cannot be read: {error!r}. It is at {uri}. Restore an older "
                "version of the object."
            ) from None

    def save(self, erased: Erased) -> Erased:
        """Put the list, in one piece; return the list."""
        listed = replace(erased, files=dict(sorted(erased.files.items())))
        earlier = {check: sorted(each) for check, each in erased.earlier.items()}
        hashes = {"hashes": sorted(erased.hashes), "earlier": earlier}
        text = state_text(
            {**to_fields(listed), **hashes},
            version=FORMAT if earlier else 1,
            release=self._release,
            indent=1,
        )
        self._store.write(self.uri, text.encode())
        if self._old_uri:
            self._store.delete(self._old_uri)
        return erased

    def matcher(self, secret_name: Optional[str], erased: Erased) -> "IsErased":
        """Return what recognizes erased keys; raise WrongSecret where a secret that the
        list was made with is not known."""
        hashers = self._hashers(secret_name, erased)
        return _matcher([(hashers[c], each) for c, each in erased.by_check.items()])

    def _hashers(
        self, secret_name: Optional[str], erased: Erased
    ) -> Dict[str, "Hasher"]:
        """Return what makes keyed hashes, by the check of each secret, the newest first."""
        if secret_name is None:
            raise WrongSecret(
                f"{self._table}: erasing needs a secret, and the environment has none. Set "
                "erase_secret in its file."
            )
        try:
            value = self._store.secret(secret_name)
        except KeyError:
            raise WrongSecret(
                f"{self._table}: there is no secret {secret_name} (erase_secret of the "
                "environment). Create it; if keys were erased before, with the old value."
            ) from None
        made = [_hasher(each, self._table) for each in _versions(value, secret_name)]
        found = {keyed_hash(""): keyed_hash for keyed_hash in made}
        if erased.by_check.keys() - found.keys():
            raise WrongSecret(
                f"{self._table}: the value of {secret_name} is not the one that {self.uri} "
                "was made with, so erased keys would not be recognised. Restore the old "
                "value; to have a new one beside it, make it a JSON list of both, the "
                "newest first (docs/erase.md#rotate-the-secret-of-erased-keys)."
            )
        return found

    def add(self, keys: Iterable[str], secret_name: Optional[str]) -> Erased:
        """Add these keys to the list by the newest secret; return the list.

        The list is put first of all. Those that are on it by an earlier secret move.
        """
        erased, asked = self.load(), list(keys)
        hashers = self._hashers(secret_name, erased)
        check, keyed_hash = next(iter(hashers.items()))
        known = erased.by_check
        hashes = known.pop(check, frozenset()).union(map(keyed_hash, asked))
        left = {c: each.difference(map(hashers[c], asked)) for c, each in known.items()}
        earlier = {c: each for c, each in left.items() if each}
        return self.save(replace(erased, check=check, hashes=hashes, earlier=earlier))


Hasher = Callable[[str], str]
"""From the text of a key to its keyed hash. No key has an empty text."""
IsErased = Callable[[str], bool]
"""From the text of a key to whether it is on a list."""


def _versions(value: bytes, name: str) -> List[bytes]:
    """Return the secrets that a value holds: of a JSON list each, the newest first."""
    try:
        found = json.loads(value)
    except ValueError:
        return [value]
    if not isinstance(found, list):
        return [value]
    if not found or not all(isinstance(each, str) and each for each in found):
        raise WrongSecret(
            f"the value of {name} is a JSON list, but not of texts alone. Make it a list "
            "of secrets, the newest first."
        )
    return [each.encode() for each in found]


def _hasher(secret: bytes, table: str) -> Hasher:
    """Make HMAC-SHA256 of table and key, so that tables reveal nothing of each other."""

    # A function of its own goes to the workers whole: they need no module of ours.
    def keyed_hash(key: str) -> str:
        return hmac.new(secret, f"{table}\n{key}".encode(), "sha256").hexdigest()

    return keyed_hash


def _matcher(hashed: Sequence[Tuple[Hasher, FrozenSet[str]]]) -> IsErased:
    def is_erased(key: str) -> bool:
        return any(keyed_hash(key) in hashes for keyed_hash, hashes in hashed)

    return is_erased


def left_out(
    erased: Erased,
    files: Sequence[LandingFile],
    numbered: DataFrame,
    is_erased: IsErased,
) -> LeftOut:
    """Return records that were blanked, and those whose key is on the list."""
    found: Dict[str, Set[int]] = {each.path: set(erased.blank(each)) for each in files}
    # The secrets travel with the function: no plan and no query shows them.
    on_list = F.udf(lambda key: key is not None and is_erased(key), "boolean")
    is_late = on_list(LogColumn.KEY) | on_list(LogColumn.OLD_KEY)
    late = numbered.where(is_late).select(LogColumn.PATH, LogColumn.RECORD)
    for row in late.collect():
        found[row.lake_path].add(row.lake_record)
    return {path: sorted(records) for path, records in found.items() if records}


def without(numbered: DataFrame, records: LeftOut) -> DataFrame:
    """Return the rows but for these records."""
    pairs = [(path, each) for path, numbers in records.items() for each in numbers]
    if not pairs:
        return numbered
    gone = numbered.sparkSession.createDataFrame(
        pairs, "lake_path string, lake_record bigint"
    )
    return numbered.join(
        F.broadcast(gone), [LogColumn.PATH.value, LogColumn.RECORD.value], "left_anti"
    )
