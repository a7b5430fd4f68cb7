"""`python -m lake_desk` says what is wrong and whether it is."""

from pathlib import Path

import pytest

from lake_check.parsing.compiled_domains import FILE
from lake_check.parsing.loader import load_domain
from lake_desk.__main__ import main
from tests.kinds import one_by_day

DOCS = Path(__file__).parents[3] / "docs"


def test_validate_passes_sound_specs(specs, capsys):
    assert main(["validate", str(specs.tables)]) == 0
    assert capsys.readouterr().out == "4 files, 0 faults\n"


def test_validate_prints_one_line_per_diagnostic_and_counts_them(specs, capsys):
    specs.put("tables/sales/_domain.yml", "name: sales\ndescription: x\nowner: y\n")
    specs.put("environments/dev.yml", "name: dev\n")
    assert main(["validate", str(specs.tables)]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 and last == "4 files, 8 faults"
    assert lines[0].startswith(f"{specs.environments}/dev.yml:1: region: missing. ")


def test_validate_takes_clusters_and_environments_of_elsewhere(specs, tmp_path, capsys):
    specs.put("other/c/big.yml", "name: big\n")
    specs.put("other/e/prod.yml", "name: prod\nregion: x\n")
    options = [
        "--clusters",
        f"{tmp_path}/other/c",
        "--environments",
        f"{tmp_path}/other/e",
    ]
    assert main(["validate", str(specs.tables), *options]) == 1
    out = capsys.readouterr().out
    assert "unknown cluster 'standard'. Clusters: big." in out
    assert f"{tmp_path}/other/e/prod.yml:2: region: got 'x'" in out


def test_validate_of_a_folder_that_is_not_there_fails(tmp_path, capsys):
    assert main(["validate", str(tmp_path / "nowhere")]) == 1
    assert "nowhere: No such file or directory" in capsys.readouterr().out


def test_compile_writes_what_loading_reads(specs, capsys):
    spec = load_domain("sales", specs.tables)
    assert main(["compile", str(specs.tables)]) == 0
    path = specs.tables / "sales" / FILE
    assert capsys.readouterr().out == f"{path}\n"
    assert path.exists() and load_domain("sales", specs.tables) == spec


def test_compile_writes_nothing_if_any_domain_has_diagnostics(specs, capsys):
    specs.put("tables/shop/_domain.yml", "name: shop\n")
    assert main(["compile", str(specs.tables)]) == 1
    assert "shop/_domain.yml:1: owner: missing" in capsys.readouterr().err
    assert not (specs.tables / "sales" / FILE).exists()


def test_the_pages_and_schemas_in_docs_are_those_of_the_model(capsys):
    assert main(["check", str(DOCS)]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("spoil", one_by_day(["edit", "unlink"]))
def test_check_names_a_page_that_is_out_of_date_and_docs_mends_it(
    tmp_path, capsys, spoil
):
    main(["docs", str(tmp_path)])
    page = tmp_path / "reference/table-spec.md"
    page.unlink() if spoil == "unlink" else page.write_text("x")
    capsys.readouterr()
    assert main(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert out == f"{page}: out of date. Run `./run_locally.sh docs`.\n"
    assert main(["docs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert main(["check", str(tmp_path)]) == 0
