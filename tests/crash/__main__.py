"""Random kill -9 points over the stages of a table, as many as asked for.

    python -m tests.crash --points N [--seed S] [--stage NAME]...

At each point a stage runs in a process of its own, which is stopped at one of
the changes that it makes to the files of its lake; what kill -9 would leave of
them is copied, and in the copy the stage is run again: all rows must be those
of a lake that nobody killed, and a further run must change nothing. A seed
makes the same points again.
The last line says `N points, M differences`; the exit code is 1 if M is not 0.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Dict, Optional, Sequence, TextIO

from tests.asked import parser
from tests.crash.stages import STAGES


def play_all(count: int, seed: int, names: Sequence[str], home: Path) -> int:
    """Play points of these stages, a line for each; at how many something differed.

    What the stages say goes to a file of the home.
    """
    from tests.crash.kinds import Kind
    from tests.crash.play import play
    from tests.crash.stages import in_groups, random_points
    from tests.crash.undisturbed import Undisturbed, undisturbed
    from tests.crash.victim import Victim
    from tests.spark.local_session import local_session

    points = list(islice(random_points(seed, names), count))
    spark = local_session()
    wrong, number, terminal = 0, 0, sys.stdout
    with ExitStack() as stack:
        stack.callback(spark.stop)
        victim = Victim(home / "victim.log")
        stack.callback(victim.kill)
        told = stack.enter_context(open(home / "stages.log", "w", encoding="utf-8"))
        stack.enter_context(redirect_stdout(told))
        lakes: Dict[Kind, Undisturbed] = {}
        for kind, of_stage in in_groups(points):
            if kind not in lakes:
                lakes[kind] = undisturbed(spark, home / kind.name, kind, seed)
            where = home / f"{kind.name}-{of_stage[0].stage.name}"
            for point, outcome in play(of_stage, lakes[kind], victim, where):
                number += 1
                wrong += bool(outcome.differences)
                _tell(number, point, outcome, terminal)
    return wrong


def _tell(number: int, point, outcome, file: TextIO) -> None:
    where = f"point {number}: {point.stage.name}, {point.kind.name}"
    way = ", other work first" if point.detour else ""
    ending = "DIFFERS" if outcome.differences else "equal"
    lines = [f"{where}: killed {'; again '.join(outcome.killed)}{way}: {ending}"]
    lines += [f"    {difference}" for difference in outcome.differences]
    print("\n".join(lines), file=file, flush=True)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Play, tell, and say by the exit code whether nothing differed."""
    asking = parser("crash", "points", __doc__)
    names = [stage.name for stage in STAGES]
    asking.add_argument(
        "--stage", action="append", choices=names, help="points of these stages alone"
    )
    asked = asking.parse_args(argv)
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    print(f"seed {asked.seed}", flush=True)
    home = Path(tempfile.mkdtemp(prefix="lake-crash-"))
    wrong = play_all(asked.points, asked.seed, asked.stage or names, home)
    if wrong:
        print(f"the lakes that differ are kept in {home}")
    else:
        shutil.rmtree(home)
    print(f"{asked.points} points, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
