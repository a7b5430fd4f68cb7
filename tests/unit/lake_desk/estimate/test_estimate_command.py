"""`python -m lake_desk estimate` prints a table, says whether buckets fit, names errors."""

from __future__ import annotations

import pytest

from lake_desk.__main__ import main
from tests.unit.lake_check.spec_files import FEED, SNAPSHOT

PRICES = "currency: USD\ninstance_hours:\n  m7g.xlarge: {ec2: 1, emr: 0.25}\n"


@pytest.fixture
def run(capsys):
    def run(*args):
        code = main(["estimate", *args])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


@pytest.fixture
def prices(tmp_path):
    file = tmp_path / "prices.yml"
    file.write_text(PRICES)
    return str(file)


def cells(lines, run, stage):
    """The figures of a line."""
    (found,) = [line.split()[2:] for line in lines if line.split()[:2] == [run, stage]]
    return found


def test_a_run_is_its_start_and_its_stages(run):
    code, lines, _ = run("--rows", "500_000", "--changes", "2000", "--latency", "0")
    assert code == 0
    assert lines[0].split() == "run stage seconds GB read GB written PUTs".split()
    assert [line.split()[:2] for line in lines[1:9]] == [
        *(["full_load", stage] for stage in ("start", "full_load", "scd2", "all")),
        *(["incremental", stage] for stage in ("start", "incremental", "scd2", "all")),
    ]
    assert cells(lines, "incremental", "start") == ["600", "-", "-", "-"]
    seconds = [
        int(cells(lines, "full_load", s)[0]) for s in ("full_load", "scd2", "all")
    ]
    assert seconds[2] == pytest.approx(600 + seconds[0] + seconds[1], abs=1)
    assert lines[-1].startswith("A model, not a measurement; S3 charges are not")


def test_the_cost_is_that_of_all_instances_for_the_seconds(run, prices):
    given = ("--prices", prices, "--instances", "m7g.xlarge:2")
    _, lines, _ = run("--rows", "1000", *given, "--instances", "m7g.xlarge:1")
    assert lines[0].endswith("cost USD")
    # 600 seconds of three instances at 1.25 an hour.
    assert cells(lines, "incremental", "start")[-1] == "0.625"


def test_buckets_that_fit_are_said_to(run):
    _, lines, _ = run("--rows", "10_000_000", "--buckets", "10")
    assert lines[-4].startswith("10 buckets, files of 84 MB of current and 103 MB of")
    assert lines[-3].startswith("proposed: 16 buckets, files of 53 MB of current")
    assert lines[-2] == "10 buckets fit."


@pytest.mark.parametrize(
    "buckets, words", [("3", "few: files become large"), ("65", "many: files become")]
)
def test_buckets_that_do_not_fit_are_advised_on_without_failing(run, buckets, words):
    code, lines, _ = run("--rows", "10_000_000", "--buckets", buckets)
    assert code == 0
    assert f"{buckets} buckets are more than 4 times too {words}" in lines[-2]
    assert "Write `buckets: 16`, then run <domain>_rebuild" in lines[-2]


def test_of_a_table_too_large_for_the_proposal_the_bound_is_told(run):
    _, lines, _ = run("--rows", "10_000_000_000")
    assert lines[-2] == (
        "256 buckets fit, the largest proposed number; up to 1,000 may be written."
    )


def test_a_table_is_estimated_by_its_own_storage(run, specs):
    where = ("--tables", str(specs.tables), "--table", "sales.orders")
    code, lines, _ = run("--rows", "10_000_000", *where)
    assert code == 0
    assert any(line.startswith("sales.orders: ") for line in lines)


@pytest.mark.parametrize(
    "storage, words",
    [
        ({"buckets": 2}, "2 buckets are more than 4 times too few"),
        (
            {"index": "bloom"},
            "its index is bloom: Hudi decides the number of files.",
        ),
        ({"partition_by": ["status"]}, "it has buckets in each partition;"),
    ],
)
def test_what_is_said_of_buckets_follows_from_the_spec(run, specs, storage, words):
    specs.put("tables/sales/orders.yml", {**FEED, "storage": storage})
    where = ("--tables", str(specs.tables), "--table", "sales.orders")
    code, lines, err = run("--rows", "10_000_000", *where)
    assert code == 0, err
    assert any(line.startswith(f"sales.orders: {words}") for line in lines)


def test_of_snapshots_it_is_said_what_the_figures_lack(run, specs):
    specs.put("tables/sales/orders.yml", SNAPSHOT)
    where = ("--tables", str(specs.tables), "--table", "sales.orders")
    _, lines, _ = run("--rows", "1000", *where)
    assert (
        "its snapshots are compared in full, which the figures do not include."
    ) in lines[-2]


@pytest.mark.parametrize(
    "args, words",
    [
        (["--table", "orders"], "--table: got 'orders'. Add the domain: DOMAIN.TABLE."),
        (["--table", "sale.orders"], "domain: got 'sale'. Did you mean 'sales'? "),
        (["--table", "sales.order"], "table: got 'order'. Did you mean 'orders'? "),
        (
            ["--table", "sales.totals"],
            "--table: got 'sales.totals'. A product is built from other tables: estimate "
            "the tables that it reads.",
        ),
        (["--changes", "0"], "changes: got 0. Write a number of at least 1."),
        (
            ["--instances", "a:1"],
            "--instances: got 'a:1'. Add a file of prices: --prices FILE.",
        ),
    ],
)
def test_a_mistake_is_named_with_its_value_and_what_to_do(run, specs, args, words):
    about = {"description": "Totals of the orders", "owner": "sales-data"}
    source = {"kind": "product", "from": "sales.orders"}
    columns = {"key": ["order_id"], "columns": {"order_id": "long"}}
    totals = {"name": "totals", **about, "source": source, **columns}
    specs.put("tables/sales/totals.yml", totals)
    code, _, err = run("--rows", "10", "--tables", str(specs.tables), *args)
    assert code == 1 and err.startswith(words)


@pytest.mark.parametrize(
    "instances, words",
    [
        ([], "--instances: got nothing. Add the instances of the cluster: --instances"),
        (
            ["m7g.xlarge"],
            "--instances: got 'm7g.xlarge'. Write a type and a number: m7g.xlarge:3.",
        ),
        (
            ["m7g.xlarge:0"],
            "--instances: got 'm7g.xlarge:0'. Write a type and a number: m7g.xlarge:3.",
        ),
        (["r7g.large:1"], "prices.yml:2: instance_hours.r7g.large: no prices of"),
    ],
)
def test_a_cost_needs_prices_of_what_the_cluster_has(run, prices, instances, words):
    given = [part for each in instances for part in ("--instances", each)]
    code, _, err = run("--rows", "10", "--prices", prices, *given)
    assert code == 1 and words in err


@pytest.mark.parametrize("name, value", [("--rows", "many"), ("--latency", "soon")])
def test_what_is_no_number_is_told(capsys, name, value):
    with pytest.raises(SystemExit):
        main(["estimate", "--rows", "1", name, value])
    assert f"argument {name}: got '{value}'. Write a" in capsys.readouterr().err
