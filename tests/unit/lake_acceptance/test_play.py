"""Checks are played in order; one that fails is never hidden, and what ends always runs."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from lake_acceptance import report
from lake_acceptance.__main__ import CHECKS
from lake_acceptance.check import Check, CheckFailed, Outcome, play


def passes(subject):
    return "evidence"


def fails(subject):
    raise CheckFailed("the cause.", "The fix.")


def is_denied(subject):
    error = {"Error": {"Code": "AccessDenied", "Message": "no glue:GetTables"}}
    raise ClientError(error, "GetTables")


def is_interrupted(subject):
    raise KeyboardInterrupt


def outcomes(*checks, emulated=True):
    said = []
    results = play(checks, None, emulated=emulated, say=said.append)
    assert [line.split()[0] for line in said] == [
        each.outcome.value.split()[0] for each in results
    ]
    return {each.check.name: each.outcome for each in results}


def test_what_needs_a_failed_check_is_not_reached_and_the_end_is():
    found = outcomes(
        Check("first", "?", fails),
        Check("second", "?", passes, ("first",)),
        Check("third", "?", passes, ("second",)),
        Check("end", "?", passes, always=True),
    )
    assert found == {
        "first": Outcome.FAILED,
        "second": Outcome.NOT_REACHED,
        "third": Outcome.NOT_REACHED,
        "end": Outcome.PASSED,
    }


def test_a_call_that_is_denied_fails_its_check_with_the_words_of_aws():
    [result] = play([Check("glue", "?", is_denied)], None, emulated=True, say=print)
    assert result.outcome is Outcome.FAILED
    assert "no glue:GetTables" in result.evidence


def test_what_only_an_account_can_answer_is_not_counted_on_the_emulator():
    check = Check("athena", "?", fails, only_in_account="no Athena")
    emulated = play([check], None, emulated=True, say=print)
    assert report.counts(emulated) == "0 checks, 0 failed"
    in_account = play([check], None, emulated=False, say=print)
    assert report.counts(in_account) == "1 checks, 1 failed"


def test_what_was_not_reached_counts_as_failed():
    checks = (Check("first", "?", fails), Check("second", "?", passes, ("first",)))
    results = play(checks, None, emulated=True, say=print)
    assert report.counts(results) == "2 checks, 2 failed"


def breaks(subject):
    raise KeyError("a reply without this member")


@pytest.mark.parametrize(
    "first, error", [(is_interrupted, KeyboardInterrupt), (breaks, KeyError)]
)
def test_an_interrupt_or_a_bug_still_ends_what_was_started(first, error):
    ended = []
    checks = (
        Check("long", "?", first),
        Check("next", "?", lambda subject: ended.append("next") or ""),
        Check("end", "?", lambda subject: ended.append("end") or "", always=True),
    )
    with pytest.raises(error):
        play(checks, None, emulated=True, say=print)
    assert ended == ["end"]


def test_each_check_comes_after_what_it_needs_and_is_called_as_no_other():
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    for position, check in enumerate(CHECKS):
        assert set(check.needs) <= set(names[:position]), check.name
