"""`suggest-rules` reads the profile on S3 and prints rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lake_local.cli.parser import parse
from lake_local.errors import BadRequest
from lake_local.workspace.specs import Specs
from lake_spec.model import Sensitivity
from lake_spec.state.table_profile import ColumnProfile, TableProfile, profile_text

KEY = "runs/profiles/moma/artists.json"


def ask(tmp_path, table="moma.artists"):
    args = parse(["suggest-rules", table, "--state-dir", str(tmp_path)])
    return args.run(args)


def test_it_prints_what_the_profile_shows(s3, tmp_path, capsys):
    gender = ColumnProfile(
        "gender", "string", 20, 2, top=(("Male", 90), ("Female", 90))
    )
    profile = TableProfile("moma", "artists", "r", "2026-11-26T1", "1", 200, (gender,))
    s3.put_object(Bucket="lake", Key=KEY, Body=profile_text(profile).encode())
    assert ask(tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "quality:",
        "  # gender: 2 different values in 180 rows: Male 90, Female 90",
        "  - {column: gender, one_of: [Male, Female], on_fail: warn}",
    ]


def test_values_of_a_column_that_is_personal_by_now_are_not_printed(
    s3, tmp_path, capsys, monkeypatch
):
    """The profile is older than the mark, and the next maintenance not there yet."""
    planned = Specs.planned_domains

    def marked(specs):
        return [
            replace(domain, tables=tuple(map(personal, domain.tables)))
            for domain in planned(specs)
        ]

    def personal(table):
        columns = (
            (name, replace(each, sensitivity=Sensitivity.PERSONAL))
            for name, each in table.columns
        )
        return replace(table, columns=tuple(columns))

    monkeypatch.setattr(Specs, "planned_domains", marked)
    gender = ColumnProfile("gender", "string", 0, 2, top=(("Male", 180),))
    wiki = replace(gender, name="wiki_qid", nulls=20)
    profile = TableProfile(
        "moma", "artists", "r", "2026-11-26T1", "1", 180, (gender, wiki)
    )
    s3.put_object(Bucket="lake", Key=KEY, Body=profile_text(profile).encode())
    assert ask(tmp_path) == 0
    printed = capsys.readouterr().out
    assert "Male" not in printed and "wiki_qid" not in printed
    assert "{column: gender, not_null: true, on_fail: warn}" in printed


def test_a_table_without_a_profile_is_refused_with_what_to_run(s3, tmp_path):
    with pytest.raises(BadRequest, match="Run moma_full_load or moma_maintenance"):
        ask(tmp_path)


def test_an_unknown_table_is_refused_with_the_nearest(s3, tmp_path):
    with pytest.raises(BadRequest, match="moma.artists"):
        ask(tmp_path, "moma.artist")
