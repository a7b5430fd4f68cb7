"""What a release has of the specs: with the plans of products, without sqlglot on MWAA."""

import json
import subprocess
import sys

import pytest
from lake_check.parsing import product_plans
from lake_check.parsing.product_plans import read_plans
from lake_release.built import PROJECT, build
from lake_spec.diagnostics.errors import SpecErrors
from lake_spec.model.json_codec import to_data

PRODUCT = """\
name: by_nation
description: Number of artists of each nationality
owner: museum-data
source: {kind: product, sql: by_nation.sql}
key: [nationality]
columns: {nationality: string, artists: bigint}
"""
SQL = """\
SELECT nationality, count(*) AS artists
FROM {{ current('moma.artists') }}
GROUP BY nationality
"""


def put(project, sql):
    folder = project / "dags" / "tables" / "moma"
    (folder / "by_nation.yml").write_text(PRODUCT)
    (folder / "by_nation.sql").write_text(sql)


def test_a_release_has_the_plan_of_a_product(project, tmp_path):
    put(project, SQL)
    built = build("prod", tmp_path / "out", project=project)
    tables = built.specs()["moma"]["domain"]["tables"]
    (plan,) = [t["source"]["plan"] for t in tables if t["name"] == "by_nation"]
    assert plan["inputs"][0]["table"] == "moma.artists"
    assert plan["unit"] == ["nationality"]
    dags = built.folder / "dags"
    in_dags = read_plans(dags / product_plans.FILE, dags / "tables")
    assert to_data(in_dags["moma.by_nation"]) == plan
    shipped = dags / "tables" / "moma"
    assert (shipped / "by_nation.sql").read_text() == SQL
    assert "plan" not in json.loads((shipped / "_compiled.json").read_text())


def test_a_wrong_product_is_no_release(project, tmp_path):
    put(project, SQL.replace("nationality,", "nation,"))
    with pytest.raises(SpecErrors, match="by_nation.sql:1: unknown column 'nation'"):
        build("prod", tmp_path / "out", project=project)


def test_dags_of_a_product_need_no_sqlglot(project):
    put(project, SQL)
    code = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "from pathlib import Path\n"
        "from lake_airflow.planning.plan import plan\n"
        "from lake_check.parsing.loader import load_domain\n"
        "domain = load_domain('moma', Path(sys.argv[1]))\n"
        "assert 'moma_products' in {each.dag_id for each in plan(domain)}\n"
    )
    path = {"PYTHONPATH": str(PROJECT / "dags")}
    tables = str(project / "dags" / "tables")
    subprocess.run([sys.executable, "-c", code, tables], check=True, env=path)
