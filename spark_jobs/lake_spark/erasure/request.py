"""What is to be erased: an object that an operator puts next to the runs.

Keys are personal data, so no Param, step argument or log has them: they have the
name of the object alone. When all is done a receipt takes its place.
`{"keys": {"<table>": [{"<key column>": <value>}, ...]}}`; the receipt is
`{"erased": {"<table>": <how many keys>}, "run": ...}`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Sequence

from lake_spec.model import FileTable, TableSpec
from lake_spec.state.state_format import state_text
from lake_spark.errors import WrongEraseRequest
from lake_spark.storage.object_store import ObjectStore

MOST_KEYS = 10_000
"""More keys of one table than this are to be asked for in several requests."""

Key = Dict[str, str]


@dataclass(frozen=True)
class Request:
    """The keys to erase per table, as texts; none left where it was carried out."""

    uri: str
    keys: Dict[str, List[Key]] = field(default_factory=dict)
    is_done: bool = False


def read(store: ObjectStore, uri: str, tables: Sequence[TableSpec]) -> Request:
    """Read the request; raise WrongEraseRequest with every error by place, never by value."""
    try:
        data = json.loads(store.read(uri))
    except KeyError:
        raise WrongEraseRequest(
            f"{uri}: there is no such request. Write it there, or correct the param "
            "`request`."
        ) from None
    except ValueError:
        raise WrongEraseRequest(f"{uri}: is not valid JSON. {_SHAPE}") from None
    if isinstance(data, dict) and {"erased", "run"} <= set(data):
        return Request(uri, is_done=True)
    if not isinstance(data, dict) or set(data) != {"keys"}:
        raise WrongEraseRequest(f"{uri}: {_SHAPE}")
    specs = {each.name: each for each in tables if isinstance(each, FileTable)}
    faults = list(_faults(data["keys"], specs))
    if faults:
        raise WrongEraseRequest(f"{uri}: {' '.join(faults)}")
    keys = {
        table: [{name: str(value) for name, value in key.items()} for key in listed]
        for table, listed in data["keys"].items()
    }
    return Request(uri, keys)


def put_receipt(store: ObjectStore, request: Request, run: str) -> None:
    """Replace the request by a receipt."""
    done = {table: len(keys) for table, keys in request.keys.items()}
    receipt = state_text({"erased": done, "run": run}, indent=1)
    store.write(request.uri, receipt.encode())


_SHAPE = (
    'A request is {"keys": {"<table>": [{"<key column>": <value>}, ...]}} and nothing '
    "else."
)


def _faults(keys: Any, specs: Dict[str, FileTable]) -> Iterator[str]:
    if not isinstance(keys, dict) or not keys:
        yield _SHAPE
        return
    for table, listed in keys.items():
        if table not in specs:
            yield f"keys.{table}: is not a table with files. Tables with files: {', '.join(specs)}."
        elif not isinstance(listed, list) or not 0 < len(listed) <= MOST_KEYS:
            yield f"keys.{table}: give a list of 1 to {MOST_KEYS:,} keys."
        else:
            for i, key in enumerate(listed):
                yield from _faults_of_key(f"keys.{table}[{i}]", key, specs[table])


def _faults_of_key(place: str, key: Any, spec: FileTable) -> Iterator[str]:
    if not isinstance(key, dict) or set(key) != set(spec.key):
        yield f"{place}: give a value for each of {', '.join(spec.key)}, and no more."
        return
    for name, value in key.items():
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not is_number and (not isinstance(value, str) or not value):
            yield f"{place}.{name}: give a string, as the source writes it, or an integer."
