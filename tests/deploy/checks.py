"""Every check of the templates, by name: what it looks at and what it finds."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple

from lake_check.parsing.loader import load_environment, load_lake
from lake_infra.domains import domains_template
from lake_infra.readers import readers_template
from lake_infra.shared_airflow import layer_template
from lake_infra.template import GENERATED, LAYERS, TEMPLATES
from lake_spec.model import Reader
from lake_spec.model.aws import SharedAirflow

from tests.deploy import groups, shape, statements

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ("dev", "prod")
EXPLAINED = "every wildcard has its reason"
RULES: Dict[str, Callable[[str], List[str]]] = {
    EXPLAINED: statements.unexplained,
    "actions and resources are named": statements.nameless,
    "roles are passed by name": statements.loose_roles,
    "clusters are made, used and ended by their tags": statements.loose_clusters,
    "no alias": shape.aliases,
    "data outlives its stack": shape.lost_with_the_stack,
    "nothing is open to the internet": shape.open_to_the_internet,
    "buckets are closed": shape.open_buckets,
    "what is let in is let out": groups.half_open,
    "nodes of a cluster reach each other": groups.cut_off_nodes,
}


class Check(NamedTuple):
    """A rule and the template that it is held to."""

    rule: str
    template: str
    find: Callable[[], List[str]]


def written() -> Dict[str, str]:
    """The templates that have a file, by its name."""
    return {path.name: path.read_text("utf-8") for path in TEMPLATES.glob("*.yml")}


def generated() -> Dict[str, str]:
    """The generated templates, for each environment that we ship.

    Our domains name no readers, so one is added.
    """
    domains = list(load_lake(ROOT / "dags" / "tables").domains.values())
    reader = Reader(
        "analysts", columns=("display_name",), tables=(domains[0].tables[0].name,)
    )
    read = [replace(d, readers=(reader, Reader("finance"))) for d in domains[:1]]
    found = {}
    for name in ENVIRONMENTS:
        environment = load_environment(name, ROOT / "dags" / "environments")
        for layer, template in (
            ("domains", domains_template(environment, domains)),
            ("readers", readers_template(environment, read)),
        ):
            found[f"{layer}-{name}.json"] = json.dumps(template, indent=1)
    return found


def shared() -> Dict[str, str]:
    """The templates of an environment whose Airflow is of others."""
    airflow = SharedAirflow("team-airflow", "team-airflow-bucket")
    environment = replace(
        load_environment("prod", ROOT / "dags" / "environments"), airflow=airflow
    )
    return {
        f"shared-{layer}.json": json.dumps(layer_template(environment, layer), indent=1)
        for layer in LAYERS
        if layer not in GENERATED
    }


def rule_checks() -> Iterator[Check]:
    """Our own rules, which need no other program."""
    for name, text in sorted({**written(), **generated(), **shared()}.items()):
        for rule, find in RULES.items():
            if rule == EXPLAINED and name.startswith("shared-"):
                continue  # JSON has no comments: the reasons stand where it is made of
            yield Check(rule, name, lambda find=find, text=text: find(text))
        if name.endswith(".yml"):
            yield Check("short", name, lambda text=text: shape.too_long(text))


def import_faults() -> List[str]:
    """Values that layers hand on to each other and that are not there, or not used."""
    templates = {
        **{name.removesuffix(".yml"): text for name, text in written().items()},
        **{layer: generated()[f"{layer}-prod.json"] for layer in GENERATED},
    }
    others = shared()
    of_shared = {
        layer: others.get(f"shared-{layer}.json", text)
        for layer, text in templates.items()
    }
    faults = shape.loose_imports(of_shared, LAYERS)
    return [
        *shape.loose_imports(templates, LAYERS),
        *(f"shared: {each}" for each in faults if OF_NOBODY not in each),
    ]


OF_NOBODY = "lake-${Environment}-AirflowGroup"
"""A security group that costs nothing, and is of nobody where Airflow is of others."""


def lint(folder: Path) -> List[str]:
    """What cfn-lint has against the templates; generated ones go to the folder."""
    paths = [str(path) for path in sorted(TEMPLATES.glob("*.yml"))]
    for name, text in {**generated(), **shared()}.items():
        (folder / name).write_text(text, "utf-8")
        paths.append(str(folder / name))
    linter = Path(sys.executable).with_name("cfn-lint")
    command = [str(linter), "--regions", "eu-central-1"]
    done = subprocess.run(
        [*command, "--format", "parseable", "--", *paths],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    found = (done.stdout + done.stderr).splitlines()
    return found or (
        [f"cfn-lint ended with {done.returncode}"] if done.returncode else []
    )


def zizmor(folder: Path = ROOT / ".github") -> List[str]:
    """What zizmor has against the workflows, asking nobody outside this machine."""
    options = ["--offline", "--no-progress", "--format", "plain"]
    return _told_by("zizmor", [*options, str(folder)], folder)


def actionlint(folder: Path = ROOT / ".github") -> List[str]:
    """What actionlint has against the workflows, whatever else this machine has."""
    # Without the checkers of scripts that it would take from the PATH.
    options = ["-no-color", "-oneline", "-shellcheck=", "-pyflakes="]
    paths = [str(path) for path in sorted(folder.glob("workflows/*.yml"))]
    return _told_by("actionlint", [*options, *paths], folder)


def _told_by(name: str, arguments: List[str], folder: Path) -> List[str]:
    """The lines of a linter that ends with 0 if it has nothing to tell."""
    program = ROOT / ".venv-infra" / "bin" / name
    done = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, cwd=folder
    )
    if not done.returncode:
        return []
    return done.stdout.splitlines() or [f"{name}: {done.stderr.strip()[-500:]}"]


NO_NOTIFICATIONS = "CKV_AWS_124"
"""Stacks that tell a topic of their events: Terraform waits for them, and shows them."""
BY_DEFAULT_KEY = "CKV_AWS_186"
"""Objects that name a key: templates go to a bucket whose default is the lake's key."""


def terraform(folder: Path = ROOT / "infra" / "terraform") -> List[str]:
    """What checkov has against the Terraform module, files that it cannot parse too."""
    program = ROOT / ".venv-infra" / "bin" / "checkov"
    options = ["--framework", "terraform", "--skip-download", "--output", "json"]
    left_out = ["--skip-check", f"{NO_NOTIFICATIONS},{BY_DEFAULT_KEY}"]
    done = subprocess.run(
        [str(program), "--directory", str(folder), *options, *left_out],
        capture_output=True,
        text=True,
    )
    try:
        report = json.loads(done.stdout)
        results, scanned = report["results"], report["summary"]["resource_count"]
    except (ValueError, KeyError, TypeError):
        return [f"checkov ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
    if not scanned:
        return ["checkov found nothing to check"]
    return [
        *(f"{file}: cannot be parsed" for file in results["parsing_errors"]),
        *(f"{e['resource']}: {e['check_id']}" for e in results["failed_checks"]),
    ]


def checkov(folder: Path) -> List[str]:
    """What checkov has against the templates; exceptions stand next to what they except."""
    program = ROOT / ".venv-infra" / "bin" / "checkov"
    for name, text in {**written(), **generated(), **shared()}.items():
        (folder / name).write_text(text, "utf-8")
    options = ["--framework", "cloudformation", "--skip-download", "--quiet"]
    done = subprocess.run(
        [str(program), "--directory", str(folder), *options, "--output", "json"],
        capture_output=True,
        text=True,
    )
    try:
        report = json.loads(done.stdout)
        scanned = report["summary"]["passed"]
    except (ValueError, KeyError, TypeError):
        return [f"checkov ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
    if not scanned:
        return ["checkov found nothing to check"]
    return [
        f"{each['file_path'].strip('/')}: {each['resource']}: {each['check_id']}"
        f" {each['check_name']}"
        for each in report["results"]["failed_checks"]
    ]
