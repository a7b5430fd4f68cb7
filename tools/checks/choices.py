"""The choices of tests by name, with what --help says of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Callable, Iterator, Sequence

from tools.checks import coverage_floors, speeds
from tools.checks.commands import Stage

SCRIPT = "./run_tests_locally.sh"
PYTEST = "[argument of pytest]..."
DEFAULT = "full"
Stages = Callable[..., Iterator[Stage]]


class NoSuchChoice(ValueError):
    """The first arguments name no choice of tests."""


@dataclass(frozen=True)
class Choice:
    """A choice of tests: its name is the first argument of the script.

    `arguments` are what may follow the name, `stages` what runs in a checkout: those of a
    shard by its `name`.
    """

    name: str
    arguments: str
    stages: Stages
    words: str


CHOICES = (
    Choice(
        "fast",
        PYTEST,
        speeds.fast,
        "black, flake8, mypy, unit and policy tests: no Java",
    ),
    Choice(
        "full",
        PYTEST,
        speeds.full,
        """fast, then a release as MWAA (also on Airflow 3.0.6) and EMR get it, the linters
        of infra/, the site of docs/, a few of `hostile`, the database and Kafka servers,
        the Spark tests of the day and the end-to-end tests: 20 to 60 minutes (the default)""",
    ),
    Choice(
        "shard",
        f"NAME {PYTEST}",
        speeds.shard,
        f"""one share of `full`, after the same set-up, as a job of CI runs it:
        {", ".join(speeds.SHARDS)}""",
    ),
    Choice(
        "properties",
        "--histories N [--seed S]",
        speeds.properties,
        "random histories against an independent oracle, as many as asked for",
    ),
    Choice(
        "fuzz",
        "--files N [--seed S] [--only NUMBER]...",
        speeds.fuzz,
        "random landing files, valid and mutated, against a strict reader in plain Python",
    ),
    Choice(
        "crash",
        "--points N [--seed S] [--stage NAME]...",
        speeds.crash,
        "every stage killed at random points, run again and compared",
    ),
    Choice(
        "readers",
        "--histories N|--kills N [--seed S]",
        speeds.readers,
        """random histories, or kills of the publication, read as Hudi, Iceberg and Delta
        by six readers""",
    ),
    Choice(
        "hostile",
        "[--only NAME]... [--role ROLE]... [--quick] [--list]",
        speeds.hostile,
        """statements of other engines and people that change or remove tables, each as
        a reader, as an administrator and without policies, and what is left after it""",
    ),
    Choice(
        "neighbour",
        "[--only KIND]... [--list] [--without-guards]",
        speeds.neighbour,
        """things of others in buckets, folders, catalogues and clusters, and our own
        commands beside them: nothing of theirs may change, and what the release before
        left goes on; or without each guard, which must be seen; no Java, half a minute""",
    ),
    Choice(
        "joins",
        "--pairs N [--seed S]",
        speeds.joins,
        "random histories and facts, joined by products, against an independent oracle",
    ),
    Choice(
        "quality",
        "[--faults N] [--seed S]",
        speeds.quality,
        "planted faults of data, which rules and checks must find, and clean runs",
    ),
    Choice(
        "loop",
        "--seeds N [--seed S] [--database postgresql|mariadb] [--seam]",
        speeds.loop,
        "random work on real databases, captured by Debezium, against what they say",
    ),
    Choice(
        "simulate",
        "--schedules N [--seed S] [--stock]",
        speeds.simulate,
        "runs with faults of EMR, workers and users, without Java or network",
    ),
    Choice(
        "soak",
        "--runs N [--tables T] [--minutes M] [--seed S]",
        speeds.soak,
        """many runs of small tables in one application, with maintenance, a reprocess, an
        erase, a rename and a new rule between them: what a run costs then, and whether
        all rows are right""",
    ),
    Choice(
        "coverage",
        "",
        speeds.coverage,
        f"""lines and branches that the unit tests play, package by package; it fails below
        the floors of {coverage_floors.FLOORS}""",
    ),
    Choice(
        "coverage_spark",
        "",
        speeds.coverage_spark,
        "the same of lake_spark's scd2, by its Spark tests",
    ),
    Choice(
        "deploy",
        "",
        speeds.deploy,
        """templates, workflows, roles and releases: our rules, grants against calls, the
        linters, and what MWAA and EMR get; it sets up what these take""",
    ),
    Choice(
        "docs",
        PYTEST,
        speeds.docs,
        """the site of docs/: built strictly into .local/site, every link and anchor of its
        pages checked""",
    ),
    Choice(
        "acceptance",
        "",
        speeds.acceptance,
        "the acceptance run of a deployment, on the emulator: what needs no account",
    ),
    Choice(
        "bench",
        "[--only K]... [--scale F] [--pairs N] [--resume]",
        speeds.bench,
        "the targets of docs/speed.md, against Delta and plain Parquet: no tests",
    ),
    Choice(
        "nightly",
        PYTEST,
        speeds.nightly,
        """what repeats a promise on one more kind of table or source, the longest
        chapters of the end-to-end story, lineage of a thousand random queries, 50 kills
        of the publication, whose seed is printed, the tests of these scripts, and all of
        `hostile`; with arguments of pytest those marked `nightly` alone""",
    ),
    Choice("spark39", PYTEST, speeds.spark39, "the Spark tests of full, on Python 3.9"),
    Choice(
        "older",
        PYTEST,
        speeds.older,
        """the DAGs, the pages of a thousand tables and the end-to-end tests, on Airflow
        3.0.6 and 3.2.1; the emulator on the packages of 3.0.6""",
    ),
)


def chosen(arguments: Sequence[str]) -> tuple[Stages, tuple[str, ...]]:
    """Return the choice that arguments of the script name, and those left for its commands.

    Without a name it is DEFAULT. A shard takes its own name too.

    Raises:
        NoSuchChoice: a word in the place of the name is none.
    """
    name, rest = DEFAULT, tuple(arguments)
    if rest and "a" <= rest[0][:1] <= "z":
        name, rest = rest[0], rest[1:]
    if name == "shard":
        return _shard(rest)
    stages = {each.name: each.stages for each in CHOICES}
    if name not in stages:
        raise NoSuchChoice(
            f"'{name}' is no speed; choose {_one_of(list(stages))}, see --help"
        )
    return stages[name], rest


def _shard(rest: tuple[str, ...]) -> tuple[Stages, tuple[str, ...]]:
    names = list(speeds.SHARDS)
    name = rest[0] if rest else ""
    if name not in names:
        raise NoSuchChoice(
            f"'{name}' is no shard of the full tests; choose {_one_of(names)}"
        )
    return partial(speeds.shard, name=name), rest[1:]


def _one_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def help_text() -> str:
    """Return what --help prints."""
    usage = [f"  {SCRIPT} {each.name} {each.arguments}".rstrip() for each in CHOICES]
    words = [
        fill(
            " ".join(each.words.split()),
            width=92,
            initial_indent=f"  {each.name:<11} ",
            subsequent_indent=" " * 14,
            break_on_hyphens=False,
        )
        for each in CHOICES
    ]
    return "\n".join([BEFORE, *usage, "", *words, "", AFTER])


BEFORE = f"""\
The one script that checks this project, at a desk, in hooks and in CI.
Without a name it runs `{DEFAULT}`.
"""
AFTER = """\
Installs what it needs first, prints each command, stops at the first that fails.
What needs no Java runs side by side, and so do two sessions of the Spark tests."""
