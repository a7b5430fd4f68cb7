"""Guards of catalogue and tables, each of which can be taken away or made too strict.

Needs pyspark, of which no session is started.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping

from lake_spark.publish import glue_tables, publication
from lake_spark.publish.delta import Delta
from lake_spark.publish.iceberg import Iceberg
from lake_spark.tables import catalog, entry_owner

from tests.neighbour import catalogue, published
from tests.neighbour.guard import Guard, TooStrict, always, setting


def _drop_all(run: Any) -> None:
    for kind in publication.FORMATS:
        publication._format(run, "current", run.table("current"), kind).drop()


def _whosever(glue: Any, names: Any, home: str) -> Any:
    return entry_owner._there(glue, names)


def _wanted_alone(wanted: Mapping[str, Any], *_: Any) -> Mapping[str, Any]:
    return wanted


GUARDS: Dict[str, Guard] = {
    "whose an entry is": Guard(
        catalogue.under_names_of_ours, setting(entry_owner, "is_ours", always(True))
    ),
    "the refusal where it is registered": Guard(
        catalogue.under_names_of_ours, setting(catalog, "refuse_other", always(None))
    ),
    "the refusal where it is published": Guard(
        catalogue.under_names_of_ours,
        setting(glue_tables, "refuse_other", always(None)),
    ),
    "the look at an entry that is removed": Guard(
        catalogue.under_names_of_ours, setting(entry_owner, "entries_of", _whosever)
    ),
    "parameters of others": Guard(
        catalogue.on_entries_of_ours, setting(catalog, "with_theirs", _wanted_alone)
    ),
    "parameters of others where it is published": Guard(
        catalogue.on_entries_of_ours, setting(glue_tables, "with_theirs", _wanted_alone)
    ),
    "whose a Delta log is": Guard(
        published.beside_tables, setting(Delta, "is_ours", always(True))
    ),
    "whose Iceberg metadata are": Guard(
        published.beside_tables,
        setting(
            Iceberg, "_former_files", lambda self: self._files_in(self._former_root)
        ),
    ),
    "formats that the spec names": Guard(
        published.beside_tables, setting(publication, "drop_unasked", _drop_all)
    ),
    "entries without the parameter of their folder": TooStrict(
        catalogue.of_the_release_before,
        setting(
            entry_owner,
            "is_ours",
            lambda found, home: found["Parameters"].get(entry_owner.FOLDER) == home,
        ),
    ),
    "Delta logs that let writers in": TooStrict(
        published.of_the_release_before, setting(Delta, "is_up_to_date", always(True))
    ),
    "Iceberg metadata in Hudi's folder": TooStrict(
        published.of_the_release_before, setting(Iceberg, "_former_files", always({}))
    ),
}
"""Each guard by what it goes by."""
