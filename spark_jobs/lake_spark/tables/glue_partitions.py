"""The partitions of a table in the Glue catalogue, as the folders of the table are.

Readers such as Athena and Trino see the rows of registered partitions alone. What the
catalogue has is compared with the folders, so that a run that was killed in between is
completed by the next one, and a second one changes nothing.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple, TypeVar
from urllib.parse import unquote

MOST_CREATED = 100
MOST_UPDATED = 100
MOST_DELETED = 25
"""What Glue takes by one request."""

Values = Tuple[str, ...]
Each = TypeVar("Each")


def values_of(folder: str, *, encoded: bool) -> Values:
    """Return the values of a partition by its folder: `country=AT/kind=a%3Ab`."""
    values = [level.partition("=")[2] for level in folder.split("/")]
    return tuple(unquote(value) if encoded else value for value in values)


def partition_input(
    values: Values, folder: str, storage: Dict[str, Any]
) -> Dict[str, Any]:
    """Return what Glue receives of a partition; `storage` is that of its table."""
    location = f"{storage['Location']}/{folder}"
    return {
        "Values": list(values),
        "StorageDescriptor": {**storage, "Location": location},
    }


class Partitions:
    """The partitions of one table of the catalogue."""

    def __init__(self, glue: Any, database: str, table: str) -> None:
        self._glue = glue
        self._table = {"DatabaseName": database, "TableName": table}

    def synchronise(self, wanted: Dict[Values, Dict[str, Any]]) -> None:
        """Create those that are missing, and delete those that have no folder."""
        known = {tuple(each["Values"]) for each in self._known()}
        self._create([wanted[each] for each in sorted(set(wanted) - known)])
        self._delete(sorted(known - set(wanted)))

    def update(self, wanted: Dict[Values, Dict[str, Any]]) -> None:
        """Bring those that are there up to date: they have the table's columns, too."""
        known = {tuple(each["Values"]) for each in self._known()}
        for some in _batches(sorted(known & set(wanted)), MOST_UPDATED):
            entries = [
                {"PartitionValueList": list(each), "PartitionInput": wanted[each]}
                for each in some
            ]
            answer = self._glue.batch_update_partition(**self._table, Entries=entries)
            self._refuse(answer, "PartitionValueList")

    def _known(self) -> Iterator[Dict[str, Any]]:
        pages = self._glue.get_paginator("get_partitions")
        for page in pages.paginate(**self._table, ExcludeColumnSchema=True):
            yield from page["Partitions"]

    def _create(self, missing: Sequence[Dict[str, Any]]) -> None:
        for some in _batches(missing, MOST_CREATED):
            answer = self._glue.batch_create_partition(
                **self._table, PartitionInputList=some
            )
            self._refuse(answer, "PartitionValues", but="AlreadyExistsException")

    def _delete(self, gone: Sequence[Values]) -> None:
        for some in _batches(gone, MOST_DELETED):
            answer = self._glue.batch_delete_partition(
                **self._table,
                PartitionsToDelete=[{"Values": list(each)} for each in some],
            )
            self._refuse(answer, "PartitionValues", but="EntityNotFoundException")

    def _refuse(self, answer: Dict[str, Any], values: str, but: str = "") -> None:
        """Raise OSError with the partitions that Glue did not process, and why."""
        failed = [
            f"{'/'.join(each[values])} ({detail['ErrorCode']}: {detail['ErrorMessage']})"
            for each in answer.get("Errors", ())
            for detail in [each["ErrorDetail"]]
            if detail["ErrorCode"] != but
        ]
        if failed:
            table = f"{self._table['DatabaseName']}.{self._table['TableName']}"
            raise OSError(
                f"{table}: Glue did not process {len(failed)} partitions of a request: "
                f"{', '.join(failed)}. Look at these errors, then run again: what is "
                "missing is registered then."
            )


def _batches(items: Sequence[Each], most: int) -> Iterable[List[Each]]:
    for first in range(0, len(items), most):
        yield list(items[first : first + most])
