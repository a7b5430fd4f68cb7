"""Who may import whom, and what must stay in one place.

The rules are data; `docs/architecture.md` says why. Every rule is also run on a
small tree that breaks it, so that no rule can fall asleep.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, FrozenSet, Iterator, List, Tuple

import pytest

from lake_local.workspace import dags_folder
from lake_release.shipped import lake_current
from tests.policy import floors
from tests.policy.floors import FLOORS, floor_faults, nodes, parsed

ROOT = Path(__file__).resolve().parents[2]
OURS = frozenset(
    {"lake_spec", "lake_check", "lake_airflow", "lake_spark", "lake_local"}
    | {"lake_desk", "lake_infra", "lake_release", "lake_acceptance", "lake_pages"}
    | {"lake_site", "lake_emulator"}
)
NEWER_THAN_PYTHON_39 = frozenset({"tomllib"})
STDLIB = frozenset(sys.stdlib_module_names) - NEWER_THAN_PYTHON_39


@dataclass(frozen=True)
class Layer:
    """What the code of one folder may import next to the standard library."""

    folder: str
    imports: FrozenSet[str]
    only_in: Dict[str, Tuple[str, ...]] = field(default_factory=dict)
    remedy: str = "move the code to the layer that may import it"


LAYERS = (
    Layer(
        "dags/lake_spec",
        frozenset({"lake_spec"}),
        remedy="lake_spec is plain Python that steps run: what reads specs is lake_check",
    ),
    Layer(
        "dags/lake_check",
        frozenset({"lake_check", "lake_spec"}),
        {"yaml": ("yaml_reader.py",)},
        "Airflow reads specs with PyYAML alone; only yaml_reader.py knows YAML",
    ),
    Layer(
        "local/lake_desk",
        frozenset({"lake_desk", "lake_check", "lake_spec"}),
        {"yaml": ("yaml_writer.py",), "sqlglot": ("sql_tree.py",)},
        "only yaml_writer.py writes YAML, and only sql_tree.py knows sqlglot",
    ),
    Layer(
        "dags/lake_airflow",
        frozenset({"lake_airflow", "lake_site", "lake_check", "lake_spec", "airflow"})
        | {"attr", "boto3", "botocore", "openlineage"},
        {
            each: ("lineage_facets.py", "lineage_assertions.py")
            for each in ("attr", "openlineage")
        },
        remedy="Spark code belongs in spark_jobs/lake_spark, the laptop's in local/lake_local",
    ),
    Layer(
        "dags/lake_site",
        frozenset({"lake_site", "lake_check", "lake_spec"}),
        {"jinja2": ("render.py",)},
        "pages are made of specs and files of runs; its callers bring the client of S3",
    ),
    Layer(
        "spark_jobs/lake_spark",
        frozenset({"lake_spark", "lake_spec", "pyspark", "py4j"}),
        {
            "boto3": ("catalog.py", "object_store.py", "probe.py"),
            "botocore": ("catalog.py", "object_store.py"),
        },
        "EMR has pyspark and boto3 only; AWS is reached in catalog.py and object_store.py",
    ),
    Layer(
        "local/lake_local",
        frozenset(
            {
                "lake_emulator",
                "lake_local",
                "lake_site",
                "lake_check",
                "lake_desk",
                "lake_spec",
                "boto3",
                "botocore",
            }
            | {"psutil", "pyspark", "requests", "bundle", "lake_infra"}
        ),
        {
            "psycopg": ("postgresql.py",),
            "pymysql": ("mariadb.py",),
            "argcomplete": ("parser.py",),
            "duckdb": (
                "layers.py",
                "product.py",
                "published.py",
                "readers.py",
                "sql.py",
                "tests_by_duckdb.py",
            ),
            **{name: ("published.py",) for name in ("deltalake", "pyiceberg")},
        },
        remedy="it speaks to Airflow and Spark as a user does: over HTTP and argv",
    ),
    Layer(
        "emulator/lake_emulator",
        frozenset({"lake_emulator", "boto3", "botocore", "moto", "werkzeug"}),
        remedy="the emulator runs steps by argv, and knows nothing of whose they are",
    ),
    Layer(
        "infra/lake_infra",
        frozenset({"lake_infra", "lake_desk", "lake_check", "lake_spec"}),
        {"yaml": ("template.py",)},
        "templates are made of specs alone, without an account",
    ),
    Layer(
        "infra/lake_release",
        frozenset(
            {"lake_release", "lake_infra", "lake_desk", "lake_check", "lake_spec"}
            | {"bundle", "boto3", "botocore", "lake_current", "packaging"}
        ),
        {"boto3": ("__main__.py",), "packaging": ("shared_requirements.py",)},
        "a release is made of the tree and put by clients that __main__.py makes",
    ),
    Layer(
        "infra/lake_acceptance",
        frozenset(
            {
                "lake_acceptance",
                "lake_release",
                "lake_infra",
                "lake_airflow",
                "lake_check",
                "lake_spec",
            }
            | {"boto3", "botocore"}
        ),
        {"boto3": ("subject.py",)},
        "an acceptance run does what the DAGs do, by clients that subject.py makes",
    ),
    Layer(
        "tools",
        frozenset({"tools"}),
        remedy="tools runs before anything is installed: Python's standard library alone",
    ),
    Layer(
        "plugins/lake_pages",
        frozenset({"lake_pages", "airflow", "boto3", "botocore", "fastapi"})
        | {"jinja2", "jwt"},
        {"boto3": ("storage.py",)},
        "the web server has none of the DAGs' packages, only what MWAA installs",
    ),
)

# What the tests of the emulator may import of ours: it is a project of its own.
EMULATOR_TESTS = Layer(
    "tests/unit/lake_emulator",
    frozenset({"lake_emulator", "boto3", "botocore", "moto", "pytest", "urllib3"})
    | {"werkzeug"},
    remedy="what it does for our steps is tested in tests/unit/lake_local/emulator",
)

# Files that are no part of a package, as globs: they tie the packages together.
LOOSE_FILES = (
    Layer("dags/*.py", frozenset({"airflow", "lake_airflow"})),
    Layer("spark_jobs/*.py", frozenset({"lake_spark", "lake_spec", "pyspark"})),
    Layer("plugins/*.py", frozenset({"airflow", "lake_pages"})),
)

HUDI_OPTIONS = "dags/lake_spec/hudi/options.py"
HUDI_OPTION = re.compile(r"(?<!/)hoodie\.")  # after a slash it is a file's name
RUNS_ON_PYTHON_39 = ("dags/lake_spec", "spark_jobs")


def imported(path: Path) -> Iterator[Tuple[int, str]]:
    """Line and top-level name of every import, also of those inside functions."""
    for node in floors.imports_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name.split(".")[0]) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, (node.module or "").split(".")[0]


def import_faults(root: Path) -> List[str]:
    """Every import that its layer does not allow."""
    faults = []
    for layer in (*LAYERS, EMULATOR_TESTS, *LOOSE_FILES):
        glob = layer.folder if "*" in layer.folder else f"{layer.folder}/**/*.py"
        for path in sorted(root.glob(glob)):
            for line, name in imported(path):
                if not allows(layer, path, name):
                    where = f"{path.relative_to(root)}:{line}"
                    faults.append(f"{where} imports {name}: {layer.remedy}")
    return faults


def allows(layer: Layer, path: Path, name: str) -> bool:
    if name in layer.only_in:
        return path.name in layer.only_in[name]
    return name in layer.imports or name in STDLIB


def hudi_key_faults(root: Path) -> List[str]:
    """Every file but one that writes a Hudi option by its name."""
    paths = [*root.glob("dags/**/*"), *root.glob("spark_jobs/**/*")]
    return [
        f"{path.relative_to(root)}:{number} writes a hoodie option: "
        f"give it a name in {HUDI_OPTIONS}"
        for path in sorted(paths)
        if path.suffix in {".py", ".yml", ".sql"} and path != root / HUDI_OPTIONS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if HUDI_OPTION.search(line)
    ]


def python_39_faults(root: Path) -> List[str]:
    """Every construct that Python 3.9, the default of EMR 7, does not know."""
    faults = []
    for folder in RUNS_ON_PYTHON_39:
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            text = path.read_text()
            where = path.relative_to(root)
            try:
                ast.parse(text, feature_version=(3, 9))
            except SyntaxError as error:
                faults.append(f"{where}:{error.lineno} is no Python 3.9: {error.msg}")
                continue
            for line, what in newer_than_39(path):
                faults.append(f"{where}:{line} is no Python 3.9: {what}")
    return faults


def newer_than_39(path: Path) -> Iterator[Tuple[int, str]]:
    """Arguments and annotations that parse on 3.9 and fail there at run time."""
    new_arguments = {"dataclass": {"slots", "kw_only"}, "zip": {"strict"}}
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for word in node.keywords:
                if word.arg in new_arguments.get(node.func.id, ()):
                    yield node.lineno, f"{node.func.id}({word.arg}=...)"
    if not postpones_annotations(parsed(path)):
        for annotation in annotations(path):
            if any(isinstance(part, ast.BitOr) for part in ast.walk(annotation)):
                yield annotation.lineno, "`X | Y` needs `from __future__ import annotations`"


def postpones_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(name.name == "annotations" for name in node.names)
        for node in tree.body
    )


def annotations(path: Path) -> Iterator[ast.expr]:
    for node in nodes(path):
        found = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if found is not None:
            yield found


@pytest.mark.parametrize(
    "rule",
    [import_faults, floor_faults, hudi_key_faults, python_39_faults],
    ids=["imports", "floors", "hudi-options-in-one-file", "python-3.9"],
)
def test_the_code_keeps_the_rule(rule):
    assert rule(ROOT) == []


def test_every_package_of_ours_has_a_layer():
    packages = {path.parent.name for path in ROOT.glob("*/lake_*/__init__.py")}
    assert packages == OURS
    assert {Path(layer.folder).name for layer in LAYERS} == OURS | {"tools"}


def unlisted_packages(root: Path) -> List[str]:
    """Each package of the dags folder that a list of them lacks.

    The loader of a release stands alone in Airflow's folder, and so cannot ask for them.
    """
    packages = {path.parent.name for path in root.glob("dags/lake_*/__init__.py")}
    lists = {
        "infra/lake_release/shipped/lake_current.py": set(lake_current.PACKAGES),
        "local/lake_local/workspace/dags_folder.py": set(dags_folder.SHARED),
        "dags/.airflowignore": set((ROOT / "dags/.airflowignore").read_text().split()),
    }
    return [
        f"{where} lacks {name}: name it there"
        for where, listed in lists.items()
        for name in sorted(packages - listed)
    ]


def test_each_list_of_the_packages_of_dags_has_all():
    assert unlisted_packages(ROOT) == []


def test_a_package_that_the_lists_lack_is_found(tmp_path):
    found = unlisted_packages(plant(tmp_path, "dags/lake_new/__init__.py", ""))
    assert len(found) == 3 and all("lacks lake_new" in each for each in found)


def plant(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return root


@pytest.mark.parametrize(
    "name, text, fault",
    [
        (
            "dags/lake_spec/model/table.py",
            "import yaml",
            "what reads specs is lake_check",
        ),
        (
            "dags/lake_spec/state/report.py",
            "from lake_check.parsing.loader import load_domain",
            "imports lake_check",
        ),
        (
            "dags/lake_airflow/build.py",
            "import lake_desk.products.plans",
            "imports lake_desk",
        ),
        (
            "dags/lake_check/rules/cluster.py",
            "import yaml",
            "only yaml_reader.py knows",
        ),
        ("dags/lake_spec/a/b.py", "def f():\n  import boto3", ":2 imports boto3"),
        ("dags/lake_spec/checks.py", "import tomllib", "imports tomllib"),
        (
            "dags/lake_airflow/planning/plan.py",
            "import pyspark.sql",
            "spark_jobs/lake_spark",
        ),
        (
            "dags/lake_airflow/planning/plan.py",
            "from lake_spark import x",
            "imports lake_spark",
        ),
        ("spark_jobs/lake_spark/scd2/fold.py", "import boto3", "object_store.py"),
        ("spark_jobs/lake_spark/scd2/fold.py", "import airflow", "imports airflow"),
        ("spark_jobs/main.py", "import lake_local", "imports lake_local"),
        ("plugins/links.py", "from lake_local.emr import x", "imports lake_local"),
        ("dags/moma.py", "import pandas", "dags/moma.py:1 imports pandas"),
        ("local/lake_local/emr.py", "import airflow", "over HTTP and argv"),
        (
            "emulator/lake_emulator/emr/x.py",
            "from lake_spec.state import report",
            "imports lake_spec: the emulator runs steps by argv",
        ),
        (
            "emulator/lake_emulator/server.py",
            "def f():\n  import lake_local.errors",
            "server.py:2 imports lake_local",
        ),
        (
            "tests/unit/lake_emulator/test_x.py",
            "from lake_local.stack import lock",
            "tested in tests/unit/lake_local/emulator",
        ),
        ("tools/setup/work.py", "import lake_spec", "before anything is installed"),
        ("tools/processes.py", "import psutil", "before anything is installed"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path, name, text, fault):
    (found,) = import_faults(plant(tmp_path, name, text))
    assert fault in found


@pytest.mark.parametrize(
    "name, text",
    [
        ("dags/lake_check/parsing/yaml_reader.py", "import yaml"),
        ("spark_jobs/lake_spark/tables/catalog.py", "import boto3"),
        (
            "dags/lake_airflow/dag_builder.py",
            "from airflow.sdk import DAG\nimport lake_spec",
        ),
        ("dags/lake_check/parsing/from_yaml.py", "from .model import x\nimport json"),
    ],
)
def test_an_allowed_import_is_no_fault(tmp_path, name, text):
    assert import_faults(plant(tmp_path, name, text)) == []


@pytest.mark.parametrize(
    "name, text, fault",
    [
        (
            "spark_jobs/lake_spark/scd2/fold.py",
            "from lake_spark.materialize import difference",
            "materialize stands above scd2",
        ),
        (
            "spark_jobs/lake_spark/storage/x.py",
            "import lake_spark.step.application",
            "step stands above",
        ),
        (
            "spark_jobs/lake_spark/attic/x.py",
            "from lake_spark.errors import BadFile",
            "a place in FLOORS",
        ),
        (
            "local/lake_local/onboard/x.py",
            "from lake_local.cli import parser",
            "cli stands above onboard",
        ),
        (
            "emulator/lake_emulator/emr/x.py",
            "from lake_emulator import server",
            "server stands above emr",
        ),
    ],
)
def test_an_import_of_a_folder_above_is_found(tmp_path, name, text, fault):
    (found,) = floor_faults(plant(tmp_path, name, text))
    assert fault in found


@pytest.mark.parametrize("package", FLOORS)
def test_every_folder_and_module_has_a_floor_and_says_what_it_owns(package):
    top = ROOT / package
    folders = {path.parent.name for path in top.glob("*/__init__.py")}
    modules = {path.stem for path in top.glob("*.py")} - {"__init__"}
    assert folders | modules == set(FLOORS[package])
    assert not [
        path for path in top.glob("**/*.py") if not ast.get_docstring(parsed(path))
    ]


def test_the_page_shows_the_floors_as_they_are():
    page = floors.PAGE.read_text(encoding="utf-8")
    assert page == floors.with_tables(page), "run: python -m tests.policy.floors"


def test_a_hudi_option_outside_its_file_is_found(tmp_path):
    plant(tmp_path, HUDI_OPTIONS, 'KEY = "hoodie.table.name"')
    plant(tmp_path, "spark_jobs/lake_spark/write.py", 'x = 1\nK = "hoodie.a.b"')
    plant(tmp_path, "spark_jobs/lake_spark/read.py", 'P = ".hoodie/hoodie.properties"')
    (found,) = hudi_key_faults(tmp_path)
    assert found.startswith("spark_jobs/lake_spark/write.py:2 writes a hoodie option")


@pytest.mark.parametrize(
    "text, fault",
    [
        ("match x:\n    case 1: pass", "Pattern matching"),
        ("@dataclass(frozen=True, slots=True)\nclass A: pass", "dataclass(slots=...)"),
        ("zip(a, b, strict=True)", "zip(strict=...)"),
        ("def f(x: int | None): pass", "from __future__ import annotations"),
        ("def f() -> int | None: pass", "from __future__ import annotations"),
    ],
    ids=["match", "slots", "zip-strict", "union-argument", "union-return"],
)
def test_what_python_39_does_not_know_is_found(tmp_path, text, fault):
    (found,) = python_39_faults(plant(tmp_path, "spark_jobs/lake_spark/a.py", text))
    assert fault in found


def test_a_union_in_a_postponed_annotation_is_no_fault(tmp_path):
    text = "from __future__ import annotations\ndef f(x: int | None): pass"
    assert python_39_faults(plant(tmp_path, "dags/lake_spec/a.py", text)) == []
