"""Kill a stage at one change, run it again, and compare."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, List, Optional

from tests.crash.comparison import half_visible, pending, unequal
from tests.crash.lakes import ALL_UPKEEP, Undisturbed, rows_of, run_stage
from tests.crash.stages import Point, Stage
from tests.crash.victim import Victim
from tests.crash.watch import Watch
from tests.spark.lake import Lake


@dataclass
class Outcome:
    """What was killed when, and what differed afterwards (nothing, if all is well)."""

    killed: List[str] = field(default_factory=list)
    differences: List[str] = field(default_factory=list)


class Victims:
    """The processes to be killed; the next one warms up while the last is compared."""

    def __init__(self, home: Path, count: int) -> None:
        self._home = home
        self._left = count
        self._started = 0
        self._next: Optional[Victim] = None
        self.warm_up()

    def warm_up(self) -> None:
        """Start the next process, if one will be needed."""
        if self._next is None and self._left:
            self._left -= 1
            self._started += 1
            self._next = Victim(self._home / f"victim-{self._started}.log")

    def take(self) -> Victim:
        """The process that was started last."""
        self.warm_up()
        victim, self._next = self._next, None
        assert victim is not None, "more kills than victims"
        return victim

    def close(self) -> None:
        """End the one that was not needed."""
        if self._next is not None:
            self._next.kill()


def play(
    point: Point, undisturbed: Undisturbed, victims: Victims, root: Path
) -> Outcome:
    """Kill the stage in a copy of the lake below the root, run it again, compare."""
    outcome = Outcome()
    undisturbed.copy(point.stage.begins_with, root)
    try:
        outcome.killed.extend(kills(point, undisturbed, victims, root))
        outcome.differences = differences(point, undisturbed, root)
    except Exception as error:  # a stage that fails differs too
        outcome.differences = [f"{type(error).__name__}: {str(error)[:2000]}"]
    if not outcome.differences:
        shutil.rmtree(root)
    return outcome


def kills(
    point: Point, undisturbed: Undisturbed, victims: Victims, root: Path
) -> Iterator[str]:
    """Kill the stage, and the runs after it if the point says so; each in words."""
    stage = point.stage
    for share in point.kills:
        victim = victims.take()
        try:
            yield kill(victim, share, stage, undisturbed, root)
        finally:
            victim.kill()
            victims.warm_up()
        stage = stage.repaired


def kill(
    victim: Victim, share: float, stage: Stage, undisturbed: Undisturbed, root: Path
) -> str:
    """kill -9 after that share of the stage's changes; when that was, in words.

    A file that was still being written goes with its writer, as on S3, where
    an object is there from the moment that its upload is complete.
    """
    changes = undisturbed.changes(stage)
    nth = 1 + int(share * changes)
    watch = Watch(str(root))
    victim.tell(
        {
            "root": str(root),
            "type": undisturbed.kind.type.value,
            "engine": undisturbed.kind.engine.value,
            "stage": stage.runs,
            "upkeep": stage.upkeep,
        }
    )
    while stage.counted(watch) < nth and not victim.is_done():
        watch.look()
    victim.freeze()
    unfinished = victim.unfinished(root)
    victim.kill()
    for path in unfinished:
        path.unlink(missing_ok=True)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    words = f"at change {stage.counted(watch)} of {changes}"
    return f"{words}, {last_of(watch, unfinished, root)}"


def last_of(watch: Watch, unfinished: List[Path], root: Path) -> str:
    """What had just happened to the files, shown below the table's folder."""
    names = [str(path.relative_to(root.resolve())) for path in unfinished]
    words = [f"while writing {', '.join(names)}"] if names else watch.changes[-1:]
    return "".join(words).replace("warehouse/tests/things/", "")


def differences(point: Point, undisturbed: Undisturbed, root: Path) -> List[str]:
    """What is not as it would be if nobody had killed the stage."""
    stage, rows = point.stage, undisturbed.rows
    lake = undisturbed.lake(root, stage.upkeep)
    is_upkeep = stage.runs == "maintenance"
    found = half_visible(rows_of(lake), rows[stage.begins_with], rows[stage.ends_with])
    if point.detour and is_upkeep:
        undisturbed.go_on(lake)
    elif point.detour:
        undisturbed.lake(root, ALL_UPKEEP).done("maintenance")
    run_stage(lake, stage.runs)
    wanted = rows["gone on" if point.detour and is_upkeep else stage.ends_with]
    found += unequal("again", rows_of(lake), wanted)
    found += left_over(lake)
    found += touched_again(lake, stage)
    if is_upkeep and not point.detour:
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
    if stage.runs == "rebuild":
        return []
    files = lake.files()
    report = run_stage(lake, stage.runs)
    found = [] if report.state == "nothing_new" else [f"once more: {report.commits}"]
    touched = sorted(files.items() ^ lake.files().items())
    return found + [f"once more: touched {path}" for path, _ in touched[:3]]
