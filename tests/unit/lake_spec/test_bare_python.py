"""What a step gets of lake_spec needs the standard library alone."""

from __future__ import annotations

import subprocess
import sys
from zipfile import ZipFile

import bundle

IMPORTS = "import importlib, sys; [importlib.import_module(n) for n in sys.argv[1:]]"


def test_lake_zip_imports_in_a_bare_python(tmp_path):
    packed = tmp_path / "lake.zip"
    bundle.zip_packages(packed)
    with ZipFile(packed) as archive:
        files = [each for each in archive.namelist() if each.startswith("lake_spec/")]
    assert len(files) > 90
    assert "lake_spec/model/table.py" in files
    modules = [
        each[: -len(".py")].replace("/__init__", "").replace("/", ".") for each in files
    ]
    # -S: no site-packages, as on a node before anything is installed.
    code = [sys.executable, "-S", "-c", IMPORTS, *modules]
    subprocess.run(code, check=True, env={"PYTHONPATH": str(packed)}, cwd=tmp_path)


def test_a_module_of_specs_that_needs_a_package_is_seen(tmp_path):
    (tmp_path / "planted.py").write_text("import yaml\n", encoding="utf-8")
    code = [sys.executable, "-S", "-c", IMPORTS, "planted"]
    env = {"PYTHONPATH": str(tmp_path)}
    found = subprocess.run(code, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert "No module named 'yaml'" in found.stderr
