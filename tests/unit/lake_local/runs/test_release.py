"""What a release leaves in the state directory, for the DAGs that refer to it."""

import json
from types import SimpleNamespace

from lake_check.parsing.product_plans import FILE, read_plans
from lake_local.runs import release
from lake_local.workspace.state_dir import StateDirectory
from tests.unit.lake_desk.products.shop import Shop, planned_domains


def test_tasks_find_the_plans_of_products_next_to_the_release(tmp_path, monkeypatch):
    import bundle

    shop = Shop(tmp_path).enriched()
    built = SimpleNamespace(id="3f9c2a71", sha256={"main.py": "0" * 64})
    monkeypatch.setattr(bundle, "build", lambda domains, place, folder: built)
    specs = SimpleNamespace(
        tables=shop.tables,
        environment=None,
        planned_domains=lambda: planned_domains(shop),
    )
    home = StateDirectory(tmp_path)
    release.publish(home, specs, s3=None)
    assert json.loads(home.release_file.read_text()) == {
        "release": "3f9c2a71",
        "artifacts": {"main.py": "0" * 64},
    }
    plans = read_plans(home.release_file.with_name(FILE), shop.tables)
    assert set(plans) == {"shop.enriched"}
