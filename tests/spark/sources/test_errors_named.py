"""What a pull that failed says: the connection, the table, and the words of who refused."""

from __future__ import annotations

import pytest

from lake_spec.model.connections import PostgreSql
from lake_spec.text.marked_values import unmarked
from lake_spark.errors import PullFailed
from lake_spark.sources.database import Server
from lake_spark.sources.postgresql import PostgreSqlDialect
from lake_spark.sources.secrets import Credentials

SERVER = Server(
    "shop_db",
    PostgreSql("db", "shop", "secret", ("shop",)),
    Credentials("lake", "hush"),
    PostgreSqlDialect(),
)


@pytest.mark.parametrize(
    "raised, told",
    [
        ("An error.\nCaused by: java.net.ConnectException: refused", "refused"),
        ("Caused by: org.x.PSQLException: no right for hush\nat y", "no right for ***"),
        ("a plain word", "a plain word"),
    ],
)
def test_the_cause_is_said_without_the_classes_of_its_program(raised, told):
    with pytest.raises(PullFailed) as failed, SERVER.errors_named("items"):
        raise RuntimeError(raised)
    assert unmarked(str(failed.value)) == (
        "connection 'shop_db': items could not be pulled, and none of its rows were "
        f"landed: {told}"
    )
