"""EMR steps as plain data: references and names only, never a spec or a secret."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lake_airflow.planning.plan import DagPlan, Stage
from lake_airflow.runs.run import Run
from lake_spec.layout.release_files import CODE, MAIN, PACKAGES
from lake_spec.layout.stage_tables import REBUILD_DIMENSION
from lake_spec.model import EnvironmentSpec
from lake_spec.platform.jars import step_jars
from lake_spec.run_options.asked import step_arguments

LONGEST_STEP = 10_240  # characters of all strings of a HadoopJarStep; EMR's limit
MOST_STEPS = 256  # steps that a cluster takes at once; EMR's limit

Step = dict[str, Any]


class StepError(ValueError):
    """A run needs more steps or longer arguments than EMR accepts.

    Fix: Start the run for fewer tables, and give files as a glob. If the message names
    a file streamer.json, clear the task that wrote it.
    """


def release_root(environment: EnvironmentSpec, release: str) -> str:
    """Return the root of a release's artifacts."""
    return f"{environment.artifacts}/releases/{release}"


def selected(stage: Stage, run: Run) -> tuple[str, ...]:
    """Return the tables of one stage that the run covers."""
    if run.verify is not None and stage.name == REBUILD_DIMENSION:
        return ()  # what is verified is what the change log says of each table
    return tuple(table for table in stage.tables if table in run.tables)


def selected_parts(stage: Stage, run: Run) -> tuple[Stage, ...]:
    """Return the stages of a step that have a table which the run covers."""
    return tuple(part for part in stage.parts if selected(part, run))


def spark_step(
    plan: DagPlan, stage: Stage, *, run: Run, environment: EnvironmentSpec
) -> Step:
    """Build the one step of a Spark stage and of those that follow in it, for all tables
    that the run covers."""
    root = release_root(environment, run.release)
    argv = ["spark-submit", "--deploy-mode", "client"]
    jars = step_jars(plan.jars, environment.jars)
    argv += ["--jars", ",".join(jars)] if jars else []
    argv += ["--py-files", f"{root}/{CODE},{root}/{PACKAGES}", f"{root}/{MAIN}"]
    argv += ["--release", root, "--region", environment.region]
    argv += ["--sha256", run.sha256] if run.sha256 else []
    argv += ["--domain", plan.domain]
    if run.token is not None:  # as long in a plan as when it was granted
        argv += ["--lease-token", f"{run.token:010d}"]
    first, *others = selected_parts(stage, run)
    argv += ["--stage", first.name]
    argv += ["--then", ",".join(part.name for part in others)] if others else []
    argv += ["--run", run.name]
    tables = () if run.tables == plan.tables else _tables(stage, run)
    argv += step_arguments(first.name, replace(run, tables=tables))
    return _step(f"{stage.name} {run.key}", argv)


def stages_asked(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the stages that the arguments of a Spark step name, in their order; empty
    for other steps."""
    values = dict(zip(argv, argv[1:]))
    asked = (values.get("--stage"), values.get("--then"))
    return tuple(name for each in asked if each for name in each.split(","))


def _tables(stage: Stage, run: Run) -> tuple[str, ...]:
    chosen = (selected(part, run) for part in stage.parts)
    return tuple(dict.fromkeys(name for names in chosen for name in names))


def streamer_steps(stage: Stage, manifest: Any, *, run: Run) -> list[Step]:
    """Build one HoodieStreamer step per table that the manifest names.

    The manifest is what the stage before wrote: `{table: [argument, ...]}`.
    """
    tables = selected(stage, run)
    if not isinstance(manifest, dict) or not set(manifest) <= set(tables):
        raise StepError(
            f"{stage.prepared_by}/streamer.json: got {_brief(manifest)}. Expected a "
            f"list of arguments for each of: {', '.join(tables) or 'no table'}."
        )
    if len(manifest) > MOST_STEPS:
        raise StepError(
            f"{stage.name}: {len(manifest)} tables have new input, but a cluster runs "
            f"at most {MOST_STEPS} steps at once. Start the run for fewer tables."
        )
    return [_streamer_step(stage, table, manifest[table], run) for table in manifest]


def _streamer_step(stage: Stage, table: str, argv: Any, run: Run) -> Step:
    if not isinstance(argv, list) or not all(isinstance(each, str) for each in argv):
        raise StepError(
            f"{stage.prepared_by}/streamer.json: {table}: got {_brief(argv)}. "
            "Expected a list of texts, the arguments of spark-submit."
        )
    return _step(f"{stage.name} {table} {run.key}", ["spark-submit", *argv])


def _step(name: str, argv: Sequence[str]) -> Step:
    # With a runtime role they are sent quoted.
    length = sum(len(shlex.quote(text)) for text in ("command-runner.jar", *argv))
    if length > LONGEST_STEP:
        raise StepError(
            f"step {name!r}: its arguments have {length} characters; EMR allows "
            f"{LONGEST_STEP}. Start the run for fewer tables, or for all of them; "
            "give files as a glob."
        )
    return {
        "Name": name,
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {"Jar": "command-runner.jar", "Args": list(argv)},
    }


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
