"""docs/sources/types.md says what arrives of each type: is it so today?"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.loop.servers import Servers
from tests.servers import types_matrix
from tests.servers.types_matrix import EXACT, TEXT, Matrix
from tests.spark.conftest import spark  # noqa: F401
from tests.kinds import one_by_day

NO_BROKER = SimpleNamespace(bootstrap_servers="127.0.0.1:1")


def rows_of_page(title):
    """The rows of a database's first table."""
    text = types_matrix.PAGE.read_text(encoding="utf-8")
    lines = text.partition(f"## {title}\n")[2].strip().split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize("title", one_by_day(["PostgreSQL", "MariaDB"]))
def test_what_the_page_says_of_pulls_is_so(
    spark, postgresql, mariadb, tmp_path, title  # noqa: F811
):
    servers = SimpleNamespace(postgresql=postgresql, mariadb=mariadb, kafka=NO_BROKER)
    matrix = Matrix(spark, servers, title.lower(), tmp_path / "lakes")
    found = matrix.by_jdbc()
    declared = matrix.declared("jdbc")
    rows = rows_of_page(title)
    assert len(rows) == len(matrix.types) > 40
    for number, (kind, type_, jdbc, *_) in enumerate(rows):
        column = f"c{number}"
        assert found[column].word == jdbc, kind
        assert types_matrix.cell(declared[column]) == type_, kind
        assert found[column].word in (EXACT, TEXT), kind


@pytest.mark.nightly
def test_the_whole_page_is_what_the_servers_give(spark, tmp_path):  # noqa: F811
    with Servers() as servers:
        made = types_matrix.played(spark, servers, tmp_path)
    assert made == types_matrix.PAGE.read_text(encoding="utf-8")
