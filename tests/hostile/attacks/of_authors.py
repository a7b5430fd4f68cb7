"""Authors of one domain's specs, who ask for what is not theirs."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.hostile.attacks.attack import AUTHOR, attack

spec = partial(attack, "validate", roles=(AUTHOR,), quick=(AUTHOR,))
"""Makes an attack of specs, by what is in them."""


@spec("derive with a subquery")
def an_author_derives_from_another_domain(engine: Any, layer: str) -> None:
    query = "(SELECT max(to_json(struct(*))) FROM hr.salaries)"
    engine.product(derive={"x": query})


@spec("derive with a subquery of a file")
def an_author_derives_from_a_file(engine: Any, layer: str) -> None:
    engine.product(
        derive={"x": "(SELECT max(to_json(struct(*))) FROM text.`/etc/passwd`)"}
    )


@spec("where with EXISTS")
def an_author_asks_what_there_is_elsewhere(engine: Any, layer: str) -> None:
    files = "parquet.`s3://lake-warehouse/tables/hr/salaries/current`"
    engine.product(where=f"EXISTS (SELECT 1 FROM {files} WHERE id = 1)")


@spec("derive with reflect")
def an_author_calls_java(engine: Any, layer: str) -> None:
    engine.product(derive={"x": "reflect('java.lang.System', 'getenv', 'HOME')"})


@spec("expression with a nested comment")
def an_author_hides_a_call_in_a_comment(engine: Any, layer: str) -> None:
    sql = (
        "id > 0 /* /*+ */ AND reflect('java.lang.System', 'getenv', 'HOME') = '' -- */"
    )
    engine.table(checks=[{"kind": "expression", "sql": sql}])


@spec("expression with ${env:HOME}")
def an_author_reads_the_environment(engine: Any, layer: str) -> None:
    sql = "name <> r'${env:HOME}'"
    engine.table(checks=[{"kind": "expression", "sql": sql}])


@spec("expression with a subquery")
def an_author_checks_against_another_domain(engine: Any, layer: str) -> None:
    sql = "id NOT IN (SELECT id FROM hr.salaries)"
    engine.table(checks=[{"kind": "expression", "sql": sql}])


@spec("pulled_from of another domain")
def an_author_pulls_from_the_database_of_another_domain(
    engine: Any, layer: str
) -> None:
    pulled = {"connection": "hr_db", "table": "public.salaries"}
    source = {
        "kind": "snapshot",
        "path": "tests/things",
        "files": "snapshots/**",
        "format": {"type": "parquet"},
        "snapshot_time": {
            "pattern": "snapshots/([^/]+)/",
            "format": "%Y-%m-%dT%H-%M-%S",
        },
        "pulled_from": pulled,
    }
    engine.table(source=source, order_by=None, effective_at=None)


@spec("path of another domain")
def an_author_reads_the_landing_files_of_another_domain(
    engine: Any, layer: str
) -> None:
    engine.table(
        source={
            "kind": "feed",
            "path": "hr/salaries",
            "changes": "other/*",
            "format": {"type": "csv"},
            "operation": {"column": "op"},
        }
    )


@spec("matches with a group of flags")
def an_author_writes_an_expression_that_takes_hours(engine: Any, layer: str) -> None:
    engine.table(quality=[{"column": "name", "matches": "(?i:(a+)+)b"}])
