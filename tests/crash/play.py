"""What a kill at some change of a stage leaves, the stage run again, the tables compared."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Tuple

from tests.crash.comparison import half_visible, pending, unequal
from tests.crash.lakes import ALL_MAINTENANCE, rows_of, run_stage
from tests.crash.stages import Point, Stage
from tests.crash.undisturbed import Undisturbed
from tests.crash.victim import Victim
from tests.crash.watch import Watch
from tests.spark.lake import Lake


@dataclass
class Outcome:
    """What was killed when, and what differed afterwards (nothing, if all is well)."""

    killed: List[str] = field(default_factory=list)
    differences: List[str] = field(default_factory=list)


def play(
    points: Sequence[Point], undisturbed: Undisturbed, victim: Victim, home: Path
) -> Iterator[Tuple[Point, Outcome]]:
    """Points of one stage in one kind of lake: one run of it, stopped at each.

    Every lake is played in one and the same folder, for Hudi's plans name files by
    their whole paths; those that differ are kept next to it.
    """
    stage, lake = points[0].stage, home / "lake"
    copies = [home / f"point-{number}" for number in range(len(points))]
    undisturbed.go_ways_to(stage)
    undisturbed.copy(stage.begins_with, lake)
    first = [(point.kills[0], copy) for point, copy in zip(points, copies)]
    told = stopped(victim, stage, undisturbed, lake, first)
    for point, copy, words in zip(points, copies, told):
        _put(copy, lake)
        outcome = Outcome([words])
        try:
            outcome.killed += _stopped_again(victim, point, undisturbed, lake)
            outcome.differences = differences(point, undisturbed, lake)
        except Exception as error:  # a stage that fails differs too
            text = f"{type(error).__name__}: {str(error)[:2000]}"
            outcome.differences = [text]
        if outcome.differences:
            shutil.copytree(lake, copy)
        yield point, outcome
    shutil.rmtree(lake)


def _put(copy: Path, lake: Path) -> None:
    """A copy in the place of the lake."""
    shutil.rmtree(lake)
    copy.rename(lake)


def _stopped_again(
    victim: Victim, point: Point, undisturbed: Undisturbed, lake: Path
) -> Iterator[str]:
    """Stop the runs that fix it as well, as often as the point says."""
    for share in point.kills[1:]:
        copy = lake.with_name("again")
        stage = point.stage.repaired
        yield from stopped(victim, stage, undisturbed, lake, [(share, copy)])
        _put(copy, lake)


def stopped(
    victim: Victim,
    stage: Stage,
    undisturbed: Undisturbed,
    root: Path,
    copies: Sequence[Tuple[float, Path]],
) -> List[str]:
    """Run the stage in the lake at the root and copy what kills would leave of it.

    For each share of the stage's changes the process is stopped when it has made
    that many, the lake is copied to the path next to the share, and the process
    goes on. In words, when each of them was.
    """
    victim.tell(
        {
            "root": str(root),
            "type": undisturbed.kind.type.value,
            "engine": undisturbed.kind.engine.value,
            "source": undisturbed.kind.source.value,
            "stage": stage.runs,
            "maintenance": stage.maintenance,
        }
    )
    changes, watch = undisturbed.changes(stage), Watch(str(root))
    words: Dict[Path, str] = {}
    for share, copy in sorted(copies):
        nth = 1 + int(share * changes)
        while stage.counted(watch) < nth and not victim.is_done():
            watch.look()
        with victim.stopped():
            unfinished = victim.unfinished(root)
            copy_as_killed(root, copy, unfinished)
        at = f"at change {stage.counted(watch)} of {changes}"
        words[copy] = f"{at}, {last_of(watch, unfinished, root)}"
    victim.finish()
    return [words[copy] for _, copy in copies]


def copy_as_killed(root: Path, copy: Path, unfinished: Sequence[Path]) -> None:
    """Copy what kill -9 would leave of a lake whose writer is stopped.

    A file that was still being written goes with its writer, as on S3, where
    an object is there from the moment that its upload is complete.
    """
    shutil.copytree(root, copy)
    for path in unfinished:
        gone = copy / path.relative_to(root.resolve())
        gone.unlink(missing_ok=True)
        gone.with_name(f".{gone.name}.crc").unlink(missing_ok=True)


def last_of(watch: Watch, unfinished: Sequence[Path], root: Path) -> str:
    """What had just happened to the files, shown below the table's folder."""
    names = [str(path.relative_to(root.resolve())) for path in unfinished]
    words = [f"while writing {', '.join(names)}"] if names else watch.changes[-1:]
    return re.sub("warehouse/tests/[^/]*/", "", "".join(words))


def differences(point: Point, undisturbed: Undisturbed, root: Path) -> List[str]:
    """What is not as it would be if nobody had killed the stage."""
    stage, rows = point.stage, undisturbed.rows
    lake = undisturbed.lake(root, stage.maintenance)
    is_maintenance = stage.runs == "maintenance"
    found = half_visible(rows_of(lake), [rows[s] for s in stage.states], stage.whole)
    if point.detour and is_maintenance:
        undisturbed.go_on(lake)
    elif point.detour:
        undisturbed.lake(root, ALL_MAINTENANCE).done("maintenance")
    run_stage(lake, stage.runs)
    wanted = rows["gone on" if point.detour and is_maintenance else stage.ends_with]
    found += unequal("again", rows_of(lake), wanted)
    found += left_over(lake)
    found += touched_again(lake, stage)
    if is_maintenance and not point.detour:
        undisturbed.go_on(lake)
        found += unequal("next changes", rows_of(lake), rows["gone on"])
    return found


def left_over(lake: Lake) -> List[str]:
    """What was begun on a table and is neither completed nor rolled back."""
    found = []
    for table in sorted((lake.root / "warehouse").glob("**/.hoodie")):
        for timeline in (table, table / "timeline"):  # the streamer's, and ours
            names = os.listdir(timeline) if timeline.is_dir() else []
            found += [f"left over: {table.parent.name}: {n}" for n in pending(names)]
    return found


def touched_again(lake: Lake, stage: Stage) -> List[str]:
    """What a run with nothing to do did all the same."""
    files = lake.files()
    report = run_stage(lake, stage.idle or stage.runs)
    found = [] if report.state == "nothing_new" else [f"once more: {report.commits}"]
    touched = sorted(files.items() ^ lake.files().items())
    return found + [f"once more: touched {path}" for path, _ in touched[:3]]
