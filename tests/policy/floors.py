"""The floors of our packages, from top to bottom, and their table in the docs.

    python -m tests.policy.floors        from the checkout's root; needs nothing installed

writes what each floor owns and stands on, as the code says it, into
docs/architecture.md. A floor is a folder or a single module of a package; it imports only
what stands below it. test_architecture.py holds the code against this.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- floors: python -m tests.policy.floors -->", "<!-- end of floors -->"

FLOORS: Dict[str, Tuple[str, ...]] = {
    "dags/lake_spec": (
        *("lineage", "hudi", "run_options", "state", "layout", "platform", "facts"),
        *("model", "text", "diagnostics"),
    ),
    "dags/lake_check": ("costs", "parsing", "rules", "messages"),
    "local/lake_desk": (
        *("__main__", "docgen", "export", "estimate", "products", "notes"),
        "yaml_writer",
    ),
    "dags/lake_site": (
        *("collect", "store", "render", "catalogue", "columns", "statements"),
        *("source_text", "glossary", "quality", "pictures", "facts", "guard"),
    ),
    "dags/lake_airflow": (
        *("build", "dag_builder", "operators", "reporting", "emr", "runs", "planning"),
        *("settings", "redaction", "compat", "airflow_rules"),
    ),
    "spark_jobs/lake_spark": (
        *("step", "stages", "erasure", "product", "ingest", "snapshots", "reading"),
        *("dimension", "sources"),
        *("materialize", "checks", "profiling", "publish", "tables", "scd2", "formats"),
        *("changelog", "landing", "schema", "storage", "errors", "java"),
    ),
    "local/lake_local": (
        *("__main__", "cli", "capture", "onboard", "runs", "stack", "page_server"),
        *("airflow", "workspace", "emulator", "show", "text", "errors"),
    ),
    "emulator/lake_emulator": (
        *("__main__", "server", "application", "admin", "services", "policies", "emr"),
        *("moto_services", "authenticator", "identify", "calls", "faults", "protocols"),
        *("call", "s3", "pages", "http_server", "clients", "keys", "state_mark"),
        *("table_optimizers", "private_folder", "runtimes"),
    ),
}


def main() -> None:
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)


def with_tables(text: str) -> str:
    """The page with the tables of the code as it is."""
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{tables(ROOT)}\n{END}{after}"


def tables(root: Path) -> str:
    """A table for each package, its floors from top to bottom."""
    return "\n\n".join(
        "\n".join(
            [
                f"| `{package}` | owns | stands on |",
                "| --- | --- | --- |",
                *(_row(root, package, floor) for floor in floors),
            ]
        )
        for package, floors in FLOORS.items()
    )


def _row(root: Path, package: str, floor: str) -> str:
    top = root / package
    folder = (top / floor).is_dir()
    file = top / floor / "__init__.py" if folder else top / f"{floor}.py"
    paths = sorted((top / floor).glob("**/*.py")) if folder else [file]
    below = {name for path in paths for name in stands_on(package, path)} - {floor}
    names = ", ".join(f"`{each}`" for each in FLOORS[package] if each in below)
    owns = (ast.get_docstring(parsed(file)) or "").split("\n")[0]
    owns = owns.replace("|", "\\|")
    return f"| `{floor}{'/' if folder else '.py'}` | {owns} | {names or 'nothing'} |"


def stands_on(package: str, path: Path) -> Iterator[str]:
    """The floors of its package that a file imports."""
    top = Path(package).name
    for _, name in modules_imported(path):
        parts = name.split(".")
        if parts[0] == top and len(parts) > 1 and parts[1] in FLOORS[package]:
            yield parts[1]


def floor_faults(root: Path) -> List[str]:
    """Every import of a floor by one that stands below it, or that has no place."""
    faults = []
    for package, floors in FLOORS.items():
        top = Path(package).name
        for path in sorted((root / package).glob("**/*.py")):
            floor = path.relative_to(root / package).with_suffix("").parts[0]
            if floor == "__init__":
                continue
            for line, name in modules_imported(path):
                parts = name.split(".")
                if parts[0] != top or len(parts) == 1 or parts[1] == floor:
                    continue
                if {floor, parts[1]} - set(floors):
                    remedy = "give it a place in FLOORS (tests/policy/floors.py)"
                elif floors.index(parts[1]) > floors.index(floor):
                    continue
                else:
                    remedy = (
                        f"{parts[1]} stands above {floor}: move what both need down, or "
                        f"the caller up (docs/architecture.md)"
                    )
                where = f"{path.relative_to(root)}:{line}"
                faults.append(f"{where} imports {name}: {remedy}")
    return faults


def parsed(path: Path) -> ast.Module:
    """A file of Python, parsed once however many rules look at it."""
    return tree_of(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=None)
def tree_of(text: str) -> ast.Module:
    """A text of Python, parsed once however many rules look at it."""
    return ast.parse(text)


def nodes(path: Path) -> Tuple[ast.AST, ...]:
    """All nodes of a file of Python, walked once however many rules look at them."""
    return nodes_of(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=None)
def nodes_of(text: str) -> Tuple[ast.AST, ...]:
    """All nodes of a text of Python, walked once however many rules look at them."""
    return tuple(ast.walk(tree_of(text)))


@lru_cache(maxsize=None)
def imports_of(text: str) -> Tuple[ast.stmt, ...]:
    """All imports of a text of Python, also those inside functions."""
    kinds = (ast.Import, ast.ImportFrom)
    return tuple(node for node in nodes_of(text) if isinstance(node, kinds))


@lru_cache(maxsize=None)
def classes_of(text: str) -> Tuple[ast.ClassDef, ...]:
    """All classes of a text of Python, also those inside functions."""
    return tuple(node for node in nodes_of(text) if isinstance(node, ast.ClassDef))


def modules_imported(path: Path) -> Iterator[Tuple[int, str]]:
    """Line and whole name of what is imported: of a package, what is taken from it."""
    for node in imports_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"


if __name__ == "__main__":
    main()
