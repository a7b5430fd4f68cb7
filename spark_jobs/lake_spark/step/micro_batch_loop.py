"""The pace of a continuous run: rounds one after the other, until something ends it."""

from __future__ import annotations

import time
from itertools import count
from typing import Callable, Optional

from lake_spec.model.continuous import Continuous

LOOK_EVERY = 5.0
"""Seconds between two looks for what asks the run to stop."""


class Rounds:
    """Rounds from each `every_seconds` on, for `hours`, or until somebody asks.

    `play` does one round by its number; `stop` says who asks the run to stop. Both
    give words that end the run, or None.
    """

    def __init__(
        self,
        pace: Continuous,
        *,
        play: Callable[[int], Optional[str]],
        stop: Callable[[], Optional[str]],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pace = pace
        self._play = play
        self._stop = stop
        self._clock = clock
        self._sleep = sleep

    def run(self) -> str:
        """Play at least one round; return why there is no other."""
        over = self._clock() + self._pace.hours * 3600
        for number in count(1):
            following = self._clock() + self._pace.every_seconds
            why = self._play(number) or self._wait(following, over)
            if why:
                return why
        raise AssertionError("a count without an end has ended")

    def _wait(self, following: float, over: float) -> Optional[str]:
        """Wait until the next round is due; return why there is no next one."""
        while True:
            if why := self._stop():
                return why
            now = self._clock()
            if max(now, following) >= over:
                return f"reached its limit of {self._pace.hours:g} hours"
            if now >= following:
                return None
            self._sleep(min(LOOK_EVERY, following - now))
