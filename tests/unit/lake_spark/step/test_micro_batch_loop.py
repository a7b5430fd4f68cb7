"""The pace of a continuous run, with a clock that only sleeping and working moves."""

import pytest

from lake_spark.step.micro_batch_loop import Rounds
from lake_spec.model.continuous import Continuous


class Played:
    """Rounds that take so many seconds each, and what came of them."""

    def __init__(self, *seconds, every=60, hours=1.0, stop_at=None, broken_in=None):
        self.now, self.began, self.naps = 0.0, [], []
        self.seconds, self.stop_at, self.broken_in = seconds, stop_at, broken_in
        rounds = Rounds(
            Continuous(every, hours),
            play=self.play,
            stop=self.stop,
            clock=lambda: self.now,
            sleep=self.sleep,
        )
        self.why = rounds.run()

    def play(self, number):
        self.began.append(self.now)
        self.now += self.seconds[min(number, len(self.seconds)) - 1]
        return "broken" if number == self.broken_in else None

    def stop(self):
        is_asked = self.stop_at is not None and self.now >= self.stop_at
        return "asked" if is_asked else None

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds


def test_rounds_begin_every_so_many_seconds_until_the_hours_are_over():
    played = Played(10, every=900)
    assert played.began == [0, 900, 1800, 2700]
    assert played.why == "reached its limit of 1 hours"
    assert played.now < 2720  # nobody waits for a round that would come too late


def test_a_round_that_takes_longer_is_followed_at_once():
    played = Played(10, 150, 10, 10, every=60, hours=0.1)
    assert played.began == [0, 60, 210, 270, 330]
    assert Played(3700, every=5).began == [0]


def test_whoever_asks_is_heard_within_five_seconds():
    played = Played(10, every=3600, hours=20, stop_at=1001)
    assert (played.began, played.why) == ([0], "asked")
    assert 1001 <= played.now <= 1006
    assert max(played.naps) == 5


def test_a_round_is_never_broken_off():
    played = Played(10, 500, every=60, stop_at=100)
    assert (played.began, played.now) == ([0, 60], 560)


def test_at_least_one_round_is_played():
    assert Played(1, stop_at=0).began == [0]


@pytest.mark.parametrize("number", [1, 3])
def test_a_round_can_be_the_last_one(number):
    played = Played(1, broken_in=number)
    assert (len(played.began), played.why) == (number, "broken")
