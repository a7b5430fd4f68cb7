"""What a stage sends to OpenLineage: tables, columns, counts, owners; valid events."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime, timezone
from types import SimpleNamespace
from uuid import uuid4

import pytest

from lake_airflow.operators.submit_stage import SubmitStage
from lake_check.parsing import product_plans
from lake_spec.model import (
    AcceptedRange,
    Aggregate,
    CheckedLayer,
    Column,
    ColumnOrigin,
    ColumnUse,
    Drift,
    NullShare,
    OnFail,
    Product,
    ProductInput,
    ProductPlan,
    RowCount,
    Rule,
    Sensitivity,
    Severity,
    TableSpec,
    Unique,
)
from lake_spec.model import Layer as ModelLayer
from lake_spec.model.continuous import Continuous
from lake_spec.state.report import CheckResult
from tests.unit.lake_airflow.specs import (
    ENVIRONMENT,
    dag_plan,
    dimension,
    domain,
    product,
    run,
    table,
)

pytest.importorskip(
    "openlineage.client", reason="the provider is optional; CI's environments have it"
)

from airflow.providers.openlineage.extractors.base import DefaultExtractor  # noqa: E402
from airflow.providers.openlineage.plugins.adapter import (  # noqa: E402
    OpenLineageAdapter,
)
from openlineage.client import OpenLineageClient  # noqa: E402
from openlineage.client.transport.file import FileConfig, FileTransport  # noqa: E402

from tests.unit.lake_airflow.openlineage_schema import faults  # noqa: E402

COLUMNS = (
    ("id", Column(type="int", description="Number of the order")),
    ("name", Column(type="string", source=("Name", "OldName"))),
    ("changed", Column(type="timestamp")),
)
ORDERS = replace(
    table("orders"), columns=COLUMNS, effective_at="changed", order_by=("changed",)
)
SALES = domain(
    ORDERS,
    replace(table("customers"), columns=COLUMNS),
    dimension("sold", "orders", "customers"),
    step_per_stage=False,
)
FILE = {"path": "a.csv", "etag": "x", "landed": 5, "accepted": 4, "quarantined": 1}
INGESTED = {
    "state": "done",
    "rows_in": 5,
    "accepted": 4,
    "quarantined": 1,
    "files": [FILE],
    "commits": {"changes": "20260101000000000"},
}
HISTORY = {"state": "done", "versions_opened": 3, "commits": {"history": "2026"}}


def operator(kind="incremental", number=0, spec=SALES, **changes):
    plan = dag_plan(kind, spec)
    task = SubmitStage(
        task_id=plan.stages[number].name,
        plan=plan,
        stage=plan.stages[number],
        domain=spec,
        environment=ENVIRONMENT,
        start_minutes=40,
        poll_seconds=1,
    )
    task.ended, task.job_flow_id = run(plan, **changes), "j-1"
    return task


def put(aws, task, **reports):
    for name, report in reports.items():
        stage, _, of = name.partition("__")
        key = f"runs/{task.ended.name}/{stage}/{of}.json"
        aws.put_object(Bucket="lake", Key=key, Body=json.dumps(report))


def extracted(task):
    return DefaultExtractor(task).extract_on_complete(SimpleNamespace())


def event_of(lineage, folder):
    """The event as the provider writes it by its transport."""
    file = folder / "events.jsonl"
    transport = FileTransport(FileConfig(log_file_path=str(file), append=True))
    adapter = OpenLineageAdapter(client=OpenLineageClient(transport=transport))
    now = datetime.now(timezone.utc).isoformat()
    adapter.complete_task(
        run_id=str(uuid4()),
        job_name="sales_incremental.incremental",
        end_time=now,
        task=lineage,
        nominal_start_time=now,
        nominal_end_time=now,
        owners=["sales-data"],
        tags=[],
        job_description="x",
    )
    (line,) = file.read_text().splitlines()
    return json.loads(line)


@pytest.fixture
def ingested(aws, tmp_path):
    """The event of a step that ingested, and then built histories and a dimension."""
    task = operator()
    reports = {
        "incremental__orders": INGESTED,
        "scd2__orders": HISTORY,
        "dimension__sold": {**HISTORY, "state": "done"},
        "incremental__customers": {"state": "nothing_new"},
    }
    put(aws, task, **reports)
    return event_of(extracted(task), tmp_path)


def named(datasets):
    return {each["name"]: each for each in datasets}


def fields(dataset, column):
    found = dataset["facets"]["columnLineage"]["fields"][column]["inputFields"]
    return {(each["name"], each["field"]) for each in found}


def test_the_event_is_valid(ingested):
    assert faults(ingested) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("eventTime",), "yesterday"),
        (("run", "runId"), "1"),
        (("outputs", 0, "name"), None),
        (("outputs", 0, "facets", "schema", "fields"), [{"type": "int"}]),
        (("outputs", 0, "facets", "schema", "_producer"), 5),
        (("inputs", 0, "inputFacets", "inputStatistics", "rowCount"), "five"),
        (("job", "facets", "ownership", "owners"), [{"type": "x"}]),
    ],
)
def test_an_invalid_event_is_found(ingested, path, value):
    *way, last = path
    place = ingested
    for part in way:
        place = place[part]
    place[last] = value
    assert len(faults(ingested)) >= 1


def test_inputs_and_outputs_are_the_tables_that_changed(ingested):
    assert set(named(ingested["inputs"])) == {
        "landing/sales/orders",
        "warehouse/sales/customers/history",
    }
    assert set(named(ingested["outputs"])) == {
        *(
            f"warehouse/sales/orders/{each}"
            for each in ("changes", "current", "history")
        ),
        *(f"warehouse/sales/sold/{each}" for each in ("current", "history")),
    }
    assert {each["namespace"] for each in ingested["inputs"]} == {"s3://lake"}


def test_each_column_leads_to_those_of_the_inputs(ingested):
    outputs = named(ingested["outputs"])
    source = "landing/sales/orders"
    for layer in ("changes", "current", "history"):
        of = outputs[f"warehouse/sales/orders/{layer}"]
        assert fields(of, "name") == {(source, "Name"), (source, "OldName")}
    history = outputs["warehouse/sales/orders/history"]
    assert fields(history, "valid_from") == {(source, "changed")}
    (how,) = history["facets"]["columnLineage"]["fields"]["valid_from"]["inputFields"][
        0
    ]["transformations"]
    assert how["subtype"] == "TRANSFORMATION"


def test_the_facets_say_what_the_specs_and_reports_do(ingested):
    outputs, (source,) = named(ingested["outputs"]), [
        each for each in ingested["inputs"] if each["name"].startswith("landing")
    ]
    log = outputs["warehouse/sales/orders/changes"]
    assert log["outputFacets"]["outputStatistics"]["rowCount"] == 4
    assert log["facets"]["version"]["datasetVersion"] == "20260101000000000"
    (owner,) = log["facets"]["ownership"]["owners"]
    assert owner["name"] == "team:sales-data"
    first = log["facets"]["schema"]["fields"][0]
    assert (first["type"], first["description"]) == ("int", "Number of the order")
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 5
    checks = source["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert {each["assertion"]: each["success"] for each in checks} == {
        "every landed row is accounted for": True,
        "no row is quarantined": False,
        "no file is set aside": True,
    }
    lake = ingested["run"]["facets"]["lake_run"]
    assert (lake["run"], lake["cluster"]) == ("sales_incremental/manual-1", "j-1")


def test_every_stage_that_writes_rows_has_valid_events(aws, tmp_path):
    written = {}
    for kind in ("full_load", "incremental", "reprocess", "rebuild", "maintenance"):
        for number, stage in enumerate(dag_plan(kind, SALES).stages):
            task = operator(kind, number)
            for part in stage.parts:
                done = {f"{part.name}__{name}": INGESTED for name in part.tables}
                put(aws, task, **done)
            folder = tmp_path / f"{kind}{number}"
            folder.mkdir()
            event = event_of(extracted(task), folder)
            assert faults(event) == []
            written[kind, stage.name] = len(event["outputs"])
    assert written["maintenance", "maintenance"] == 0
    assert all(n for (kind, _), n in written.items() if kind != "maintenance")


MADE = domain(
    ORDERS,
    replace(table("customers"), columns=COLUMNS),
    dimension("sold", "orders", "customers"),
    replace(
        product("named"),
        source=Product(
            from_="crm.people", reads=("crm.people",), derive=(("changed", "now"),)
        ),
        columns=COLUMNS,
    ),
    replace(product("totals", "sales.named"), columns=COLUMNS[:1]),
    continuous=Continuous(),
)


@pytest.mark.parametrize("kind", ["products", "rebuild", "continuous"])
def test_a_product_has_its_current_alone(aws, tmp_path, kind):
    stage = next(s for s in dag_plan(kind, MADE).stages if "totals" in s.tables)
    number = dag_plan(kind, MADE).stages.index(stage)
    task = operator(kind, number, spec=MADE)
    put(aws, task, **{f"{stage.name}__{each}": INGESTED for each in stage.tables})
    event = event_of(extracted(task), tmp_path)
    assert faults(event) == []
    outputs = named(event["outputs"])
    made = {n for n in outputs if "/sold/" in n or "/totals/" in n or "/named/" in n}
    currents = {f"warehouse/sales/{name}/current" for name in ("named", "totals")}
    sold = {f"warehouse/sales/sold/{layer}" for layer in ("current", "history")}
    assert made == currents | (sold if kind == "continuous" else set())
    of = outputs["warehouse/sales/named/current"]
    assert fields(of, "name") == {("warehouse/crm/people/current", "name")}
    assert "changed" not in of["facets"]["columnLineage"]["fields"]
    schema = outputs["warehouse/sales/totals/current"]["facets"]["schema"]["fields"]
    assert [each["name"] for each in schema] == ["id"]
    assert "warehouse/crm/people/current" in named(event["inputs"])


def origin(column: str, source: str, how: str) -> ColumnOrigin:
    return ColumnOrigin(column, "input_0", source, ColumnUse(how))


def made_by_sql(name: str, of: str, *columns: ColumnOrigin) -> TableSpec:
    """A product with the plan that a release has of its SQL."""
    made = product(name, of)
    inputs = (ProductInput("input_0", of, ModelLayer.CURRENT, ("id",)),)
    plan = ProductPlan("SELECT 1", inputs, "0f3a", "input_0", columns=columns)
    return replace(
        made,
        source=replace(made.source, plan=plan),
        columns=tuple((each.column, Column("string")) for each in columns),
    )


def test_columns_are_followed_through_the_sql_of_products(aws, tmp_path, monkeypatch):
    totals = made_by_sql(
        *("totals", "crm.people"),
        origin("id", "id", "copied"),
        origin("name", "name", "computed"),
        origin("spent", "amount", "summed"),
        origin("n", "name", "derived"),
    )
    best = made_by_sql(
        *("best", "sales.totals"),
        origin("id", "id", "copied"),
        origin("share", "spent", "computed"),
    )
    released = domain(totals, best)
    unplanned = [
        replace(t, source=replace(t.source, plan=None)) for t in (totals, best)
    ]
    tables = tmp_path / "tables"
    tables.mkdir()
    monkeypatch.setenv("LAKE_TABLES", str(tables))
    monkeypatch.setenv("LAKE_RELEASE_FILE", str(tmp_path / "release.json"))
    plans = product_plans.plans_text([released], tables)
    (tmp_path / product_plans.FILE).write_text(plans)

    task = operator("products", spec=domain(*unplanned, step_per_stage=False))
    put(aws, task, product__totals=INGESTED, product__best=INGESTED)
    event = event_of(extracted(task), tmp_path)
    assert faults(event) == []
    assert list(named(event["inputs"])) == ["warehouse/crm/people/current"]
    outputs = named(event["outputs"])
    assert hows(outputs["warehouse/sales/totals/current"]) == {
        "id": ("id", "IDENTITY"),
        "name": ("name", "TRANSFORMATION"),
        "spent": ("amount", "AGGREGATION"),
        "n": ("name", "TRANSFORMATION"),
    }
    assert hows(outputs["warehouse/sales/best/current"]) == {
        "id": ("id", "IDENTITY"),
        "share": ("amount", "AGGREGATION"),
    }


def hows(dataset):
    """The one column that each column comes from, and how."""
    found = {}
    for name, of in dataset["facets"]["columnLineage"]["fields"].items():
        (field,) = of["inputFields"]
        (how,) = field["transformations"]
        found[name] = field["field"], how["subtype"]
    return found


RULED = replace(
    ORDERS,
    columns=(
        *COLUMNS,
        ("email", Column("string", sensitivity=Sensitivity.PERSONAL)),
        ("born", Column("date", sensitivity=Sensitivity.PERSONAL)),
    ),
    quality=(
        Rule("id", not_null=True),
        Rule("name", one_of=("Ann", "Bob"), on_fail=OnFail.WARN),
        Rule("email", matches=".*@.*", on_fail=OnFail.WARN),
        Rule("changed", at_least=1.0),
    ),
    checks=(
        Unique(("email",)),
        RowCount(at_least=1, name="some-rows", layer=CheckedLayer.CHANGES),
        NullShare("name", 0.5, severity=Severity.WARN),
        AcceptedRange("id", Aggregate.MAX, at_most=9, layer=CheckedLayer.HISTORY),
        AcceptedRange("born", Aggregate.MIN, at_least=7, layer=CheckedLayer.HISTORY),
        Drift(),
    ),
)
RULES = {
    "id has no value": 1,
    "name is not one of ['Ann', 'Bob']": 2,
    "email does not match '.*@.*'": 0,
}


def result(check, result="passed", value=0.0):
    """The result of a check, as a report has it."""
    severity, layer = check.severity.value, check.layer.value
    of = (check.title, check.kind, layer, severity, result, value, "at most 9")
    return asdict(CheckResult(*of, list(check.named_columns)))


def event_of_checks(aws, folder):
    """The event of a step that tested the rules and checks of a table."""
    unique, rows, nulls, largest, oldest, drift = RULED.checks
    of_current = [result(unique), result(rows, value=4.0), result(drift, "skipped")]
    of_current += [result(nulls, "failed", 0.75)]
    of_history = [result(largest, value=7.0), result(oldest, value=4711.0)]
    task = operator(spec=domain(RULED, step_per_stage=False))
    reports = {
        "incremental__orders": {**INGESTED, "rules": RULES, "checks": of_current},
        "scd2__orders": {**HISTORY, "checks": of_history},
    }
    put(aws, task, **reports)
    return event_of(extracted(task), folder)


def assertions(dataset):
    """Assertions by their titles, whichever version of the client wrote them."""
    facet = dataset["facets"].get("dataQualityAssertions", {"assertions": []})
    return {each.get("name", each["assertion"]): each for each in facet["assertions"]}


def test_outputs_have_the_results_of_rules_and_checks(aws, tmp_path):
    event = event_of_checks(aws, tmp_path)
    assert faults(event) == []
    found = {
        name.rpartition("/")[2]: {
            title: (each["success"], each.get("column"))
            for title, each in assertions(dataset).items()
        }
        for name, dataset in named(event["outputs"]).items()
    }
    assert found == {
        "changes": {
            "not_null(id)": (True, "id"),  # its row is in quarantine
            "one_of(name)": (False, "name"),
            "matches(email)": (True, "email"),
            "some-rows": (True, None),
        },
        "current": {
            "unique(email)": (True, "email"),
            "null_share(name)": (False, "name"),
        },
        "history": {
            "accepted_range(max(id))": (True, "id"),
            "accepted_range(min(born))": (True, "born"),
        },
    }


def test_files_have_the_results_of_rules(aws, tmp_path):
    (source,) = event_of_checks(aws, tmp_path)["inputs"]
    found = assertions({"facets": source["inputFacets"]})
    results = {title: each["success"] for title, each in found.items()}
    assert results == {
        "every landed row is accounted for": True,
        "no row is quarantined": False,
        "no file is set aside": True,
        "not_null(id)": False,
        "one_of(name)": False,
        "matches(email)": True,
    }


def test_products_and_dimensions_have_the_results_of_theirs(aws, tmp_path):
    rows, ids = RowCount(at_least=1), Unique(("id",), layer=CheckedLayer.HISTORY)
    totals = replace(
        product("totals", "sales.orders"),
        columns=COLUMNS[:1],
        quality=(Rule("id", not_null=True),),
        checks=(rows,),
    )
    sold = replace(dimension("sold", "orders", "customers"), checks=(rows, ids))
    spec = domain(*SALES.tables[:2], sold, totals, step_per_stage=False)
    task = operator(spec=spec)
    of_product = {**INGESTED, "rules": {"id has no value": 0}, "checks": [result(rows)]}
    of_dimension = {**HISTORY, "checks": [result(rows), result(ids, "failed", 2.0)]}
    put(aws, task, product__totals=of_product, dimension__sold=of_dimension)
    event = event_of(extracted(task), tmp_path)
    assert faults(event) == []
    outputs = named(event["outputs"])
    assert {
        name.removeprefix("warehouse/sales/"): {
            title: each["success"] for title, each in assertions(of).items()
        }
        for name, of in outputs.items()
    } == {
        "totals/current": {"not_null(id)": True, "row_count": True},
        "sold/current": {"row_count": True},
        "sold/history": {"unique(id)": False},
    }


def test_an_assertion_has_what_the_client_knows(aws, tmp_path):
    outputs = named(event_of_checks(aws, tmp_path)["outputs"])
    found = assertions(outputs["warehouse/sales/orders/history"])
    each = found["accepted_range(max(id))"]
    if "name" not in each:  # the client of Airflow 3.0.6, and 3.2.1 with a severity
        assert set(each) - {"severity"} == {"assertion", "success", "column"}
        return
    known = ("assertion", "severity", "expected", "actual")
    assert [each[name] for name in known] == [
        *("accepted_range", "error", "at most 9", "7.0")
    ]
    found = assertions(outputs["warehouse/sales/orders/current"])
    assert found["null_share(name)"]["severity"] == "warn"


def test_no_value_of_a_personal_column_is_sent(aws, tmp_path):
    event = event_of_checks(aws, tmp_path)
    assert "accepted_range(min(born))" in json.dumps(event)
    assert "4711" not in json.dumps(event)


def test_nothing_is_said_of_a_dry_run_or_before_steps_ended(aws):
    assert extracted(operator(dry_run=True)) is None
    task = operator()
    task.ended = None
    assert extracted(task) is None
