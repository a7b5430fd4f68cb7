"""The folders of a domain's runs."""

from __future__ import annotations

from lake_spec.dag_kinds import DAG_KINDS, run_folders


def test_no_folder_of_a_domain_is_one_of_another_whose_name_begins_like_it():
    ours, others = (run_folders("s3://lake/runs", d) for d in ("moma", "moma_eu"))
    assert ours[0] == f"s3://lake/runs/moma_{DAG_KINDS[0]}/"
    assert len(ours) == len(DAG_KINDS)
    assert not [o for o in others if o.startswith(tuple(ours))]
