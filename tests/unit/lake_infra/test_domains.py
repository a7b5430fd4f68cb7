"""The generated template: what a role may reach, and what it may not.

Domain sales has a role of its own; stock and moma share one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import botocore.session
import pytest
from botocore.validate import ParamValidator
from lake_airflow.planning.plan import plan
from lake_infra.aws_limits import POLICIES_OF_ROLE, POLICY_CHARACTERS
from lake_infra.domains import domains_template, logical_id
from lake_infra.lake_formation import grant, in_turn
from lake_infra.packing import packed, size
from lake_infra.policies import documents, resolved
from lake_infra.resource_names import NotDeployable
from lake_infra.runtime_role import MOST_FOLDERS, WRITE, role_statements
from lake_infra.statements import policy_document
from lake_spec.layout.dag_names import DAG_KINDS
from lake_spec.model import (
    Continuous,
    Dimension,
    DimensionTable,
    HistoryRuns,
    JdbcTable,
    KafkaCluster,
    KafkaTopic,
    MariaDb,
    PostgreSql,
    Side,
)
from lake_spec.model.choices import ReadableAs, SecretStore

from tests.kinds import one_by_day
from tests.unit.lake_infra.lakes import (
    domain,
    environment,
    product,
    pulling,
    role,
    topic,
)

SALES = domain("sales", "sales/orders", "sales/customers/", told="people")
STOCK, MOMA = domain("stock", "wms"), domain("moma", "museum/artists")
TEMPLATE = domains_template(environment(), [STOCK, SALES, MOMA])
RESOURCES = TEMPLATE["Resources"]


def statements(role: str) -> dict:
    """The statements of all policies of a role in the template."""
    found = documents(TEMPLATE, role)
    return {each["Sid"]: each for document in found for each in document["Statement"]}


def of_role(environment, domains) -> dict:
    """The statements that a role of these domains has, which are the whole lake."""
    found = role_statements(environment, domains, domains)
    assert len({each["Sid"] for each in found}) == len(found)
    return {each["Sid"]: each for each in found}


def keys(statement: dict) -> list:
    """The resources without what all of them begin with."""
    found = [each["Fn::Sub"] for each in statement["Resource"]]
    start = "arn:${AWS::Partition}:"
    assert all(each.startswith(start) for each in found)
    return [each[len(start) :] for each in found]


def test_there_is_a_role_for_each_that_domains_have_and_a_database_for_each_domain():
    assert {
        name: each["Type"].split("::", 1)[1] for name, each in RESOURCES.items()
    } == {
        "RolestepsX2dXsales": "IAM::Role",
        "RolestepsX2dXsalesPolicy1": "IAM::ManagedPolicy",
        "Rolesteps": "IAM::Role",
        "RolestepsPolicy1": "IAM::ManagedPolicy",
        "Databasemoma": "Glue::Database",
        "DatabasemomaGrant": "LakeFormation::PrincipalPermissions",
        "DatabasemomaTablesGrant": "LakeFormation::PrincipalPermissions",
        "Databasesales": "Glue::Database",
        "DatabasesalesGrant": "LakeFormation::PrincipalPermissions",
        "DatabasesalesTablesGrant": "LakeFormation::PrincipalPermissions",
        "Databasestock": "Glue::Database",
        "DatabasestockGrant": "LakeFormation::PrincipalPermissions",
        "DatabasestockTablesGrant": "LakeFormation::PrincipalPermissions",
        "Topicpeople": "SNS::Topic",
    }
    properties = RESOURCES["RolestepsX2dXsales"]["Properties"]
    assert (properties["RoleName"], properties["Path"]) == ("steps-sales", "/lake/")
    assert RESOURCES["Rolesteps"]["Properties"]["Path"] == "/"


def test_a_role_writes_the_tables_and_runs_of_its_domain_alone():
    found = statements("RolestepsX2dXsales")
    writing = [s for s, each in found.items() if "s3:PutObject" in each["Action"]]
    assert writing == ["Tables", "Runs", "Timings", "Checks"]
    assert keys(found["Tables"]) == [
        "s3:::house/tables/sales",
        "s3:::house/tables/sales/*",
    ]
    assert keys(found["Runs"]) == [
        *(f"s3:::work/runs/sales_{kind}/*" for kind in DAG_KINDS),
        "s3:::work/runs/profiles/sales/*",
    ]


def test_a_role_reads_the_landing_files_of_its_tables_alone():
    found = statements("RolestepsX2dXsales")
    paths = ["files/sales/customers/*", "files/sales/orders/*"]
    assert keys(found["ReadLandingFiles"]) == [f"s3:::land/{path}" for path in paths]
    assert found["ReadLandingFiles"]["Action"] == ["s3:GetObject"]
    condition = {"StringLike": {"s3:prefix": paths}}
    assert found["FindLandingFiles"]["Condition"] == condition


def test_a_role_reads_its_lease_and_its_part_of_every_release():
    found = statements("RolestepsX2dXsales")
    assert keys(found["Leases"]) == ["s3:::work/runs/leases/sales.json"]
    assert keys(found["Releases"]) == [
        "s3:::work/artifacts/releases/*/lake.zip",
        "s3:::work/artifacts/releases/*/boto3.zip",
        "s3:::work/artifacts/releases/*/main.py",
        "s3:::work/artifacts/releases/*/specs/sales.json",
    ]
    assert found["Leases"]["Action"] == found["Releases"]["Action"] == ["s3:GetObject"]


def test_a_role_reads_and_notes_the_timings_of_its_domain_alone():
    found = statements("RolestepsX2dXsales")
    assert keys(found["Timings"]) == ["s3:::work/runs/timings/sales.json"]
    assert found["Timings"]["Action"] == ["s3:GetObject", "s3:PutObject"]
    listed = found["FindRunsAndWhatIsBeside"]["Condition"]["StringLike"]["s3:prefix"]
    assert "runs/timings/sales.json" in listed


def test_a_role_reads_and_notes_the_results_of_checks_of_its_domain_alone():
    found = statements("RolestepsX2dXsales")
    assert keys(found["Checks"]) == ["s3:::work/runs/checks/sales/*"]
    assert found["Checks"]["Action"] == ["s3:GetObject", "s3:PutObject"]
    listed = found["FindRunsAndWhatIsBeside"]["Condition"]["StringLike"]["s3:prefix"]
    assert "runs/checks/sales/*" in listed


def test_a_role_writes_the_catalogue_of_its_database_alone():
    start = "glue:${AWS::Region}:${AWS::AccountId}:"
    assert keys(statements("RolestepsX2dXsales")["Catalogue"]) == [
        f"{start}catalog",
        f"{start}database/sales",
        f"{start}table/sales/*",
    ]


def named(spec, *formats):
    """The domain with formats for the first of its tables."""
    one, *others = spec.tables
    storage = replace(one.storage, readable_as=formats)
    return replace(spec, tables=(replace(one, storage=storage), *others))


def test_a_role_writes_the_databases_of_the_formats_that_its_tables_ask_for():
    sales = named(SALES, ReadableAs.DELTA)
    found = of_role(environment(), [sales])
    start = "glue:${AWS::Region}:${AWS::AccountId}:"
    assert keys(found["Catalogue"]) == [
        f"{start}catalog",
        f"{start}database/sales",
        f"{start}table/sales/*",
        f"{start}database/sales_delta",
        f"{start}table/sales_delta/*",
    ]


def test_a_role_may_remove_tables_of_formats_that_are_named_no_more_and_no_others():
    found = statements("RolestepsX2dXsales")["FormatsNoLongerNamed"]
    start = "glue:${AWS::Region}:${AWS::AccountId}:"
    assert found["Action"] == ["glue:DeleteTable", "glue:GetTable"]
    assert keys(found) == [
        f"{start}catalog",
        f"{start}database/sales_iceberg",
        f"{start}table/sales_iceberg/*",
        f"{start}database/sales_delta",
        f"{start}table/sales_delta/*",
    ]


def test_each_format_that_is_named_has_a_database_with_its_grants():
    sales = named(SALES, *ReadableAs)
    found = domains_template(environment(), [sales])["Resources"]
    for name in ("sales_iceberg", "sales_delta"):
        database = logical_id("Database", name)
        made = found[database]["Properties"]["DatabaseInput"]
        assert made["Name"] == name
        assert made["CreateTableDefaultPermissions"]["Fn::If"][1] == []
        granted = found[f"{database}TablesGrant"]["Properties"]
        assert granted["Permissions"] == ["ALTER", "DESCRIBE", "DROP"]
        holder = granted["Principal"]["DataLakePrincipalIdentifier"]
        assert holder == {"Fn::GetAtt": ["RolestepsX2dXsales", "Arn"]}
    own = found["DatabasesalesTablesGrant"]["Properties"]["Permissions"]
    assert own == ["ALTER", "DESCRIBE"]
    alone = domains_template(environment(), [SALES])["Resources"]
    assert set(alone) == {name for name in found if "5fX" not in name}


def test_a_shared_role_reaches_all_of_its_domains_and_no_other():
    text = json.dumps(statements("Rolesteps"))
    assert "tables/moma" in text and "tables/stock" in text
    assert "sales" not in text and "erp" not in text


def test_a_domain_whose_name_begins_another_does_not_reach_it():
    """`sales` next to `sales_eu`: no pattern of the one matches a key of the other."""
    template = domains_template(environment(), [domain("sales"), domain("sales_eu")])
    text = json.dumps([*documents(template, "RolestepsX2dXsales")])
    assert "sales*" not in text and "sales_*" not in text
    assert set(template["Resources"]) >= {"Databasesales", "DatabasesalesX5fXeu"}


def test_every_kind_of_dag_has_its_folder():
    specs = domain("sales", "a")
    designs = [replace(specs, history_runs=each) for each in HistoryRuns]
    designs.append(replace(specs, continuous=Continuous()))
    designs.append(replace(specs, tables=(product("totals", "sales.t0"),)))
    assert {dag.kind for each in designs for dag in plan(each)} == set(DAG_KINDS)


def test_the_template_is_the_same_whatever_the_order_of_the_domains():
    again = domains_template(environment(), [MOMA, STOCK, SALES])
    assert json.dumps(again) == json.dumps(TEMPLATE)


def test_lake_formation_grants_only_where_it_is_asked_for():
    grants = [n for n in RESOURCES if n.endswith("Grant")]
    assert {RESOURCES[n]["Condition"] for n in grants} == {"UsesLakeFormation"}
    assert TEMPLATE["Parameters"]["LakeFormation"]["Default"] == "off"


def test_grants_are_made_one_after_the_other():
    grants = [n for n in RESOURCES if n.endswith("Grant")]
    after = [RESOURCES[name].get("DependsOn", []) for name in grants]
    assert len(grants) == 6
    assert after == [[], *([name] for name in grants[:-1])]
    beside = {"A": {"Type": "x"}, "B": grant("r", {}, [], DependsOn="A")}
    beside["C"] = grant("r", {}, [], DependsOn="A")
    assert in_turn(beside)["C"]["DependsOn"] == ["A", "B"]


def test_the_topic_of_alarms_is_of_another_layer():
    same = domain("sales", told="alarms")
    template = domains_template(environment(alarm_topic=topic("alarms")), [same])
    assert not [n for n in template["Resources"] if n.startswith("Topic")]


@pytest.mark.parametrize("erase", one_by_day(["/lake/prod/erase", None]))
@pytest.mark.parametrize("tables", [1, 10, 99, 100, 101, 250, 500])
def test_a_domain_of_any_size_has_policies_that_iam_takes(tables, erase):
    paths = [f"many/of_some_length/table_{n:03d}" for n in range(tables)]
    many = [domain("many", *paths)]
    named = replace(environment(), erase_secret=erase)
    found = packed(role_statements(named, many, many))
    assert len(found) <= POLICIES_OF_ROLE
    for document in found:
        assert len({each["Sid"] for each in document}) == len(document)
        assert size(policy_document(document)) <= POLICY_CHARACTERS
    read = keys_of(found, "ReadLandingFiles")
    if tables <= MOST_FOLDERS:
        assert sorted(read) == [f"s3:::land/files/{path}/*" for path in paths]
    else:
        assert read == ["s3:::land/files/many/*"]


def keys_of(found, sid: str) -> list:
    """The resources of a statement that may be divided."""
    parts = [e for document in found for e in document if e["Sid"].startswith(sid)]
    return [key for part in parts for key in keys(part)]


@pytest.mark.parametrize("erase", one_by_day(["/lake/prod/erase", None]))
def test_so_many_domains_share_a_role_as_iam_takes_and_more_are_refused(erase):
    """Three domains with an erase filled a role's inline policy."""
    named = replace(environment(), erase_secret=erase)
    refused = []
    for count in (1, 2, 3, 5, 10, 15, 20, 35, 50):
        lake = [domain(f"domain_{n:02d}", f"domain_{n:02d}/a") for n in range(count)]
        try:
            template = domains_template(named, lake)
        except NotDeployable as error:
            refused.append(count)
            assert "runtime role steps: its steps need" in str(error)
            assert "Name a role of its own for some of them" in str(error)
            continue
        assert not refused
        assert len([*documents(template, "Rolesteps")]) <= POLICIES_OF_ROLE
    assert 10 not in refused and 50 in refused


def test_a_statement_that_is_too_long_is_divided_and_loses_nothing():
    paths = [f"sales/{'long' * 20}/{n:03d}" for n in range(90)]
    (sales,) = [domain("crm", *paths)]
    statements = role_statements(environment(), [sales], [sales])
    found = packed(statements)
    assert len(found) > 3

    def everything(each: dict) -> set:
        condition = each.get("Condition", {}).get("StringLike", {})
        return {
            (json.dumps(each["Action"]), json.dumps(resource), prefix)
            for resource in each["Resource"]
            for prefix in condition.get("s3:prefix", [""])
        }

    whole = set().union(*map(everything, statements))
    assert set().union(*(everything(e) for d in found for e in d)) == whole


def test_more_domains_than_a_template_takes_are_refused():
    lake = [domain(f"d{n}") for n in range(200)]
    roles = tuple((each.name, role(f"steps-{each.name}")) for each in lake)
    with pytest.raises(NotDeployable, match="need 1[0-9]{3} resources"):
        domains_template(environment(runtime_roles=roles), lake)


def test_what_another_domain_grants_is_read_alone_also_where_the_role_may_erase():
    guest = domain("moma", "moma/artists", "sales/people")
    named = replace(environment(), erase_secret="/lake/dev/erase")
    found = of_role(named, [guest])
    own, granted = found["ReadLandingFiles"], found["ReadGrantedLandingFiles"]
    assert keys(own) == ["s3:::land/files/moma/artists/*"]
    assert "s3:PutObject" in own["Action"]
    assert keys(granted) == ["s3:::land/files/sales/people/*"]
    assert granted["Action"] == ["s3:GetObject"]


def test_what_one_domain_of_a_role_grants_another_of_it_stays_its_own():
    named = replace(environment(), erase_secret="/lake/dev/erase")
    both = [domain("stock", "stock/x"), domain("moma", "moma/a", "stock/x")]
    found = of_role(named, both)
    own = [f"s3:::land/files/{each}/*" for each in ("moma/a", "stock/x")]
    assert keys(found["ReadLandingFiles"]) == own
    assert "s3:PutObject" in found["ReadLandingFiles"]["Action"]
    assert "ReadGrantedLandingFiles" not in found


def test_a_domain_is_written_to_as_a_whole_only_where_all_of_it_is_pulled():
    paths = [f"shop/t{n:03d}" for n in range(MOST_FOLDERS + 1)]
    shop = pulling(domain("shop", *paths), load_from=JdbcTable("shop", "a"))
    assert keys(of_role(environment(), [shop])["PullLandingFiles"]) == [
        "s3:::land/files/shop/*"
    ]
    hand = domain("shop", "shop/hand").tables[0]
    mixed = replace(shop, tables=(*shop.tables, replace(hand, name="hand")))
    found = of_role(environment(), [mixed])
    assert len(found["PullLandingFiles"]["Resource"]) == len(paths)
    assert keys(found["ReadLandingFiles"]) == ["s3:::land/files/shop/hand/*"]


def test_policies_are_the_same_ones_whatever_domains_share_the_role():
    """IAM changes no description: CloudFormation would attach new ones next to them."""
    few = domains_template(environment(), [STOCK])["Resources"]["RolestepsPolicy1"]
    many = RESOURCES["RolestepsPolicy1"]
    assert few["Properties"]["Description"] == many["Properties"]["Description"]


def test_only_where_a_secret_is_named_may_a_role_erase():
    assert not {"EraseRequests", "SecretOfErasedKeys"} & set(
        statements("RolestepsX2dXsales")
    )
    read = statements("RolestepsX2dXsales")["ErasedKeys"]
    assert keys(read) == ["s3:::land/files/_erased/sales/*"]
    assert read["Action"] == ["s3:GetObject"]
    named = replace(environment(), erase_secret="/lake/dev/erase")
    found = of_role(named, [SALES])
    assert keys(found["EraseRequests"]) == ["s3:::work/runs/erase/sales/*"]
    assert keys(found["EraseOldVersions"]) == ["s3:::house/tables/sales/*"]
    assert found["ErasedKeys"]["Action"] == ["s3:GetObject", "s3:PutObject"]
    delete = "s3:DeleteObjectVersion"
    assert delete in found["Runs"]["Action"]
    assert delete not in statements("RolestepsX2dXsales")["Runs"]["Action"]
    assert found["SecretOfErasedKeys"]["Resource"]["Fn::Sub"].endswith(
        ":parameter/lake/dev/erase"
    )
    assert set(found["ReadLandingFiles"]["Action"]) == {
        *("s3:DeleteObjectVersion", "s3:GetObject", "s3:PutObject")
    }
    versions = [e for e in found.values() if e["Action"] == "s3:ListBucketVersions"]
    prefixes = {p for e in versions for p in e["Condition"]["StringLike"]["s3:prefix"]}
    # What delete_old_versions is called with lies in one of these, of this domain alone.
    assert {"tables/sales/*", "runs/erase/sales/*", "runs/sales_erase/*"} < prefixes
    assert all("sales" in p or p.startswith("files/sales/") for p in prefixes)


def test_a_role_reads_the_tables_of_others_that_its_products_read():
    crm = domain("crm", "crm/people", "crm/places", "crm/items")
    people, places, items = crm.tables
    dim = Dimension(main=Side(people.name), joined=Side(places.name))
    both = DimensionTable("dim", "crm", "Both", "crm-data", dim, ("id",))
    dims = replace(crm, tables=(*crm.tables, both))
    totals = product("totals", "crm.dim", "sales.t0", "moma.t0")
    sales = replace(SALES, tables=(*SALES.tables, totals))
    template = domains_template(environment(), [sales, MOMA, dims])
    found = {
        each["Sid"]: each
        for document in documents(template, "RolestepsX2dXsales")
        for each in document["Statement"]
    }
    read, find = found["ReadTablesOfOthers"], found["FindTablesOfOthers"]
    tables = ("crm/dim", f"crm/{people.name}", f"crm/{places.name}", "moma/t0")
    folders = [f"tables/{each}{end}" for each in tables for end in ("", "/*")]
    assert keys(read) == [f"s3:::house/{each}" for each in folders]
    assert read["Action"] == ["s3:GetObject"]
    assert find["Condition"]["StringLike"]["s3:prefix"] == folders
    assert items.name not in json.dumps([read, find])
    assert "TablesOfOthers" not in json.dumps([*documents(template, "Rolesteps")])


def test_a_product_has_no_landing_files():
    sales = replace(SALES, tables=(product("totals", "sales.t0"),))
    assert "LandingFiles" not in json.dumps(of_role(environment(), [sales]))


CONNECTIONS = (
    ("shop", PostgreSql("h", "d", "lake/shop", ("a", "b"))),
    ("old", MariaDb("h", "d", "/lake/old", ("b",), secret_store=SecretStore.SSM)),
    ("events", KafkaCluster(("b:1",), ("c",), secret="AmazonMSK_lake")),
    ("open", KafkaCluster(("b:1",), ("d",))),
    ("others", PostgreSql("h", "d", "lake/others", ("a",))),
)
PULLED = [
    pulling(domain("a", "shop/a"), load_from=JdbcTable("shop", "a")),
    pulling(domain("b", "shop/b"), load_from=JdbcTable("old", "b")),
    pulling(domain("c", "c"), changes_from=KafkaTopic("events", "c")),
    pulling(domain("d", "d"), changes_from=KafkaTopic("open", "d")),
]


def test_a_role_reads_the_secrets_that_pulls_of_its_tables_use_alone():
    servers = environment(connections=CONNECTIONS)
    found = of_role(servers, PULLED)
    start = "${AWS::Region}:${AWS::AccountId}:"
    assert keys(found["SecretsOfConnections"]) == [
        f"secretsmanager:{start}secret:AmazonMSK_lake-??????",
        f"secretsmanager:{start}secret:lake/shop-??????",
    ]
    assert keys(found["ParametersOfConnections"]) == [f"ssm:{start}parameter/lake/old"]
    assert found["SecretsOfConnections"]["Action"] == ["secretsmanager:GetSecretValue"]
    assert "secret:" not in json.dumps(of_role(servers, [SALES, PULLED[3]]))


@pytest.mark.parametrize("setting", ["load_from", "changes_from"])
def test_a_role_reads_no_secret_of_a_connection_that_is_for_others(setting):
    pulls = {
        "load_from": JdbcTable("shop", "hr"),
        "changes_from": KafkaTopic("events", "t"),
    }
    thief = pulling(domain("thief", "thief"), **{setting: pulls[setting]})
    servers = environment(connections=CONNECTIONS)
    assert "secret:" not in json.dumps(of_role(servers, [thief]))
    # Nor because another domain that runs as the same role only may use it.
    idle = pulling(domain("a", "a"), load_from=JdbcTable("old", "a"))
    assert "secret:" not in json.dumps(of_role(servers, [thief, idle]))


def test_a_role_reads_the_certificates_that_its_servers_are_checked_by():
    ours, others = "s3://work/ca/rds.pem", "s3://work/ca/hr.pem"
    known = (
        ("shop", PostgreSql("h", "d", "lake/shop", ("a",), ca=ours)),
        ("old", PostgreSql("h", "d", "lake/old", ("b",), ca=others)),
    )
    servers = environment(connections=known)
    found = of_role(servers, [PULLED[0]])
    assert keys(found["Certificates"]) == ["s3:::work/ca/rds.pem"]
    assert found["Certificates"]["Action"] == ["s3:GetObject"]
    assert "/ca/" not in json.dumps(of_role(servers, [SALES]))


def test_a_role_writes_the_landing_files_that_its_tables_pull_alone():
    found = of_role(environment(), [SALES, PULLED[0]])
    read, pulled = found["ReadLandingFiles"], found["PullLandingFiles"]
    assert keys(pulled) == ["s3:::land/files/shop/a/*"]
    assert pulled["Action"] == list(WRITE)
    assert keys(read) == [
        "s3:::land/files/sales/customers/*",
        "s3:::land/files/sales/orders/*",
    ]
    assert read["Action"] == ["s3:GetObject"]
    erasing = environment(erase_secret="/lake/erase")
    written = of_role(erasing, [PULLED[0]])["PullLandingFiles"]
    assert set(written["Action"]) == {*WRITE, "s3:DeleteObjectVersion"}


def test_a_role_reads_the_jars_of_its_steps():
    with_jars = environment(jars=("s3://work/jars/a.jar",))
    found = of_role(with_jars, [SALES])
    assert keys(found["Jars"]) == ["s3:::work/jars/a.jar"]
    assert found["Jars"]["Action"] == ["s3:GetObject"]


def test_grants_of_lake_formation_are_requests_that_its_api_takes():
    model = botocore.session.get_session().get_service_model("lakeformation")
    taken = model.operation_model("GrantPermissions").input_shape
    grants = [
        each["Properties"]
        for each in RESOURCES.values()
        if each["Type"] == "AWS::LakeFormation::PrincipalPermissions"
    ]
    assert grants
    for each in grants:
        asked = {
            **each,
            "Principal": {"DataLakePrincipalIdentifier": "arn:aws:iam::1:role/a"},
        }
        plain = resolved(asked, defaultdict(lambda: "text"))
        report = ParamValidator().validate(plain, taken)
        assert not report.has_errors(), report.generate_report()
        enum = taken.members["Permissions"].member.enum
        assert set(each["Permissions"]) <= set(enum)


def test_a_role_reaches_what_a_moved_table_is_and_nothing_else_of_that_domain():
    (wms,) = STOCK.tables
    storage = replace(wms.storage, readable_as=(ReadableAs.ICEBERG,))
    moved = replace(wms, name="parts", formerly="sales.old", storage=storage)
    stock = replace(STOCK, tables=(moved,))
    found = of_role(environment(), [stock])
    lists = {s: e for s, e in found.items() if isinstance(e["Resource"], list)}
    own = {sid: keys(each) for sid, each in lists.items()}
    of_sales = {
        sid: [key.replace("s3:::", "") for key in reached if "/sales" in key]
        for sid, reached in own.items()
    }
    iceberg = ReadableAs.ICEBERG.database_of("sales")
    assert {sid: reached for sid, reached in of_sales.items() if reached} == {
        "Tables": ["house/tables/sales/old", "house/tables/sales/old/*"],
        "ErasedKeys": ["land/files/_erased/sales/old.json"],
        "Runs": ["work/runs/profiles/sales/old.json"],
        "Leases": ["work/runs/leases/sales.json"],
        "Checks": ["work/runs/checks/sales/old.json"],
        "FormerNames": [
            f"glue:${{AWS::Region}}:${{AWS::AccountId}}:{thing}"
            for thing in (
                "database/sales",
                *("table/sales/old_changes", "table/sales/old"),
                "table/sales/old_history",
            )
        ],
        "FormerNamesOfFormats": [
            f"glue:${{AWS::Region}}:${{AWS::AccountId}}:{kind}/{iceberg}{name}"
            for kind, name in (
                ("database", ""),
                *(("table", f"/old{end}") for end in ("_changes", "", "_history")),
            )
        ],
    }
    assert found["FormerNames"]["Action"] == ["glue:GetTable", "glue:UpdateTable"]
