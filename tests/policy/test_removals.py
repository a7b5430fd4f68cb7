"""What deletes, ends, cancels or replaces stands in a table, with why it meets ours alone."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path
from typing import Iterator, Set

import pytest

from tests.policy.floors import nodes_of
from tests.policy.removals import WHY

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("dags", "emulator", "infra", "local", "plugins", "spark_jobs", "tools")
CALL = re.compile(
    r"(batch_)?(delete|terminate|cancel|update|stop|deregister|purge)_\w+"
    r"|delete|rmtree|unlink|rmdir|removedirs|kill|killpg|terminate|send_signal|truncate"
)
OURS_BY_NAME = {"stop_uri"}
"""Functions whose names are like those of requests, and which change nothing."""
SQL = re.compile(
    r"\b(pg_drop_\w+|pg_terminate_\w+|(?:DROP|TRUNCATE) [A-Z]+|DELETE FROM)\b"
)
CONDITIONS = {"IfNoneMatch", "IfMatch", "condition"}
SHELL = re.compile(r"(?:^|[\s;|&({'\"`])(rm|rmdir|kill|pkill|killall)\s+(?!-0)")


def of_python(text: str) -> Set[str]:
    """The names of such calls in a module, and of such statements in its texts."""
    found = set()
    for node in nodes_of(text):
        if isinstance(node, ast.Call):
            found.update(_of_call(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(SQL.findall(node.value))
    return found


def _of_call(node: ast.Call) -> Iterator[str]:
    made = node.func
    name = getattr(made, "attr", getattr(made, "id", ""))
    if name == "put_object":
        given = {each.arg or ast.unparse(each.value) for each in node.keywords}
        if not given & CONDITIONS:
            yield name
    elif name == "remove" and ast.unparse(made) == "os.remove":
        yield name
    elif CALL.fullmatch(name) and name not in OURS_BY_NAME:
        yield name
    elif isinstance(made, ast.Call) and ast.unparse(made.func) == "getattr":
        if not isinstance(made.args[1], ast.Constant) and not node.args:
            yield "getattr"  # a method whose name is made


def of_shell(text: str) -> Set[str]:
    """The names of such commands in a script, without its comments."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {name for line in lines for name in SHELL.findall(line)}


def files() -> Iterator[Path]:
    listed = subprocess.run(
        [
            "git",
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "*.py",
            "*.sh",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        is_shipped = name.split("/")[0] in SHIPPED
        if (is_shipped or name.endswith(".sh")) and (ROOT / name).exists():
            yield ROOT / name


@pytest.fixture(scope="module")
def found():
    calls = {}
    for file in files():
        of = of_shell if file.suffix == ".sh" else of_python
        names = of(file.read_text(encoding="utf-8"))
        if names:
            calls[str(file.relative_to(ROOT))] = names
    return calls


def test_whatever_removes_or_replaces_is_known_to_meet_ours_alone(found):
    new = {
        f"{file}: {name}"
        for file, names in found.items()
        for name in names - set(WHY.get(file, ()))
    }
    assert not new, "look what it can meet, then say why in tests/policy/removals.py"


def test_each_reason_is_still_needed(found):
    assert not {
        f"{file}: {name}"
        for file, names in WHY.items()
        for name in set(names) - found.get(file, set())
    }


@pytest.mark.parametrize(
    "text, name",
    [
        ("glue.delete_table(DatabaseName=d, Name=n)", "delete_table"),
        ("glue.batch_delete_partition(**t)", "batch_delete_partition"),
        ("s3.delete_object(Bucket=b, Key=k, IfMatch=e)", "delete_object"),
        ("self.hook.conn.terminate_job_flows(JobFlowIds=i)", "terminate_job_flows"),
        ("emr.cancel_steps(ClusterId=c, StepIds=s)", "cancel_steps"),
        ("mwaa.update_environment(Name=n)", "update_environment"),
        ("glue.update_table(DatabaseName=d, TableInput=t)", "update_table"),
        ("s3.put_object(Bucket=b, Key=k, Body=x)", "put_object"),
        ("s3.put_object(**where, Body=x)", "put_object"),
        ("shutil.rmtree(folder)", "rmtree"),
        ("from shutil import rmtree\nrmtree(folder)", "rmtree"),
        ("path.unlink(missing_ok=True)", "unlink"),
        ("os.remove(path)", "remove"),
        ("os.kill(pid, 9)", "kill"),
        ("store.delete(uri)", "delete"),
        ("store.delete_old_versions(uri)", "delete_old_versions"),
        ("files.delete(path, True)", "delete"),
        ("run('DROP TABLE a')", "DROP TABLE"),
        ("SQL = f'SELECT pg_drop_replication_slot({x})'", "pg_drop_replication_slot"),
        ("getattr(process, how)()", "getattr"),
    ],
)
def test_a_planted_call_is_seen(text, name):
    assert of_python(text) == {name}


@pytest.mark.parametrize(
    "text",
    [
        "s3.put_object(Bucket=b, Key=k, Body=x, IfNoneMatch='*')",
        "s3.put_object(**where, **condition)",
        "names.remove('a')",
        "found.update({'a': 1})",
        "'''Remove rows, as DELETE does.'''",
    ],
)
def test_what_removes_nothing_of_others_is_not(text):
    assert of_python(text) == set()


@pytest.mark.parametrize(
    "text, names",
    [
        ('rm -rf "$1"', {"rm"}),
        ("find . -exec rm -rf {} +", {"rm"}),
        ("trap 'rm -r \"$site\"' EXIT", {"rm"}),
        ('kill -TERM -- "-$pid"', {"kill"}),
        ('kill -0 "$pid"', set()),
        ("# rm -r nothing", set()),
        ("echo warm -r", set()),
    ],
)
def test_a_planted_command_is_seen(text, names):
    assert of_shell(text) == names
