"""The folders of a domain's runs."""

from __future__ import annotations

from lake_spec.layout.dag_kinds import dag_ids, run_folders
from lake_spec.layout.dag_names import DAG_KINDS


def test_no_folder_of_a_domain_is_one_of_another_whose_name_begins_like_it():
    ours, others = (run_folders("s3://lake/runs", d) for d in ("moma", "moma_eu"))
    assert ours[0] == f"s3://lake/runs/moma_{DAG_KINDS[0]}/"
    assert len(ours) == len(DAG_KINDS)
    assert not [o for o in others if o.startswith(tuple(ours))]


def test_a_domain_has_the_dags_that_its_spec_asks_for():
    feed = {"name": "moma", "tables": [{"source": {"kind": "feed"}}]}
    spec = {**feed, "history_runs": "same_cluster", "continuous": None}
    some = {"moma_scd2", "moma_continuous", "moma_products"}
    both = {f"moma_{kind}" for kind in DAG_KINDS} - some
    assert dag_ids(spec) == both
    assert dag_ids(feed) == both  # of a release that knew neither
    own = {**spec, "history_runs": "own_dag"}
    assert dag_ids(own) - both == {"moma_scd2"}
    tables = [*feed["tables"], {"source": {"kind": "product"}}]
    assert dag_ids({**spec, "tables": tables}) - both == {"moma_products"}
    always = {**spec, "continuous": {"hours": 4}}
    assert dag_ids(always) - both == {"moma_continuous"}
    assert dag_ids({**always, "tables": []}) == set()
