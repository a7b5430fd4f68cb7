"""What a step can be asked to do; the rest is a usage error with exit code 2."""

import pytest

from lake_spark.application import STAGES
from lake_spark.arguments import parse
from lake_spark.table_run import Accepted

STEP = ["--release", "r", "--domain", "shop", "--run", "shop_incremental/1", "--stage"]


def test_losses_are_accepted_where_extracts_are_taken(capsys):
    asked = parse([*STEP, "incremental", "--accept-losses"], list(STAGES))
    assert asked.accepted == Accepted(losses=True)
    assert parse([*STEP, "incremental"], list(STAGES)).accepted == Accepted()
    with pytest.raises(SystemExit) as ended:
        parse([*STEP, "rebuild", "--accept-losses"], list(STAGES))
    assert ended.value.code == 2
    assert "--accept-losses goes with --stage incremental" in capsys.readouterr().err
