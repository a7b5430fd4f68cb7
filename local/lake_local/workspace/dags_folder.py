"""A DAGs folder for tables outside of the project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lake_spec.layout.dag_names import PROOF
from lake_spec.model.names import NAME

from lake_local.errors import BadRequest

SHARED = (
    *("lake_spec", "lake_check", "lake_airflow", "lake_site"),
    *("clusters", "environments"),
    *("lake.py", f"{PROOF}.py"),
)
_BEGIN = '"""DAGs of the domain '
_FILE = '''"""DAGs of the domain {domain}: see {tables}."""

from lake_airflow import build_domain

globals().update(build_domain("{domain}"))
'''


def domains_in(tables: Path) -> list[str]:
    """List the domains in a tables folder.

    Raises BadRequest if it has no domain, or if a name cannot be a DAG's.
    """
    if not tables.is_dir():
        raise BadRequest(
            f"--tables {tables}: no such folder. Write a folder of domains, as dags/tables is."
        )
    found = sorted(each.parent.name for each in tables.glob("*/_domain.yml"))
    if not found:
        raise BadRequest(
            f"--tables {tables}: the folder has no domain. Create one: a folder with a"
            " _domain.yml and one file per table, or write the folder above it."
        )
    for name in found:
        if not NAME.fits(name):
            raise BadRequest(
                f"{tables / name}: {name!r} is not a valid name of a domain. Rename the"
                " folder: 1 to 63 of a-z, 0-9 and _, beginning with a letter."
            )
    return found


def generate(target: Path, *, project_dags: Path, tables: Path) -> Path:
    """Write a DAGs folder of the domains in `tables` to `target`, and return it.

    Shared files are linked to the project, so that changes there count. Files that are
    right already are not written again: Airflow may be reading them. What was not
    generated stays. Raises BadRequest where it is in the way.
    """
    domains = domains_in(tables)
    files = [f"{each}.py" for each in domains]
    shared = [each for each in SHARED if each not in files]
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_foreign(target, {*shared, *files})
    _remove_generated(target, but={*shared, *files})
    for name in shared:
        _link(target / name, project_dags / name)
    shutil.copyfile(project_dags / ".airflowignore", target / ".airflowignore")
    for domain in domains:
        _write(target / f"{domain}.py", dag_text(domain, tables))
    return target


def dag_text(domain: str, tables: Path) -> str:
    """Return the file from which Airflow reads the DAGs of a domain."""
    return _FILE.format(domain=domain, tables=f"{tables.name}/{domain}")


def lacks_dag_file(dags: Path, domain: str) -> bool:
    """Return whether nothing in the project's DAGs folder can build a domain's DAGs.

    A file that is not named after a domain may build any of them.
    """
    files = {file.stem for file in dags.glob("*.py")}
    return domain not in files and files <= {
        "lake",
        PROOF,
        *domains_in(dags / "tables"),
    }


def _refuse_foreign(folder: Path, names: set[str]) -> None:
    for path in sorted(folder / name for name in names):
        if path.exists() and not path.is_symlink() and not _is_generated(path):
            raise BadRequest(
                f"{path} was not written by a command, and --tables needs the name. Move it"
                " elsewhere, or give these tables another state directory: --state-dir DIR"
            )


def _remove_generated(folder: Path, *, but: set[str]) -> None:
    for each in folder.iterdir():
        if each.name not in but and _is_generated(each):
            each.unlink()


def _is_generated(path: Path) -> bool:
    """Return whether a file is a domain's, or a link, as `generate` writes them."""
    if path.is_symlink():
        return path.name in SHARED
    return (
        path.suffix == ".py"
        and path.is_file()
        and path.read_bytes().startswith(_BEGIN.encode())
    )


def _link(link: Path, to: Path) -> None:
    if link.is_symlink() and os.readlink(link) == str(to):
        return
    link.unlink(missing_ok=True)
    os.symlink(to, link, target_is_directory=True)


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
