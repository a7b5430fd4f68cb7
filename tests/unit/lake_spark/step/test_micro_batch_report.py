"""What rounds did to a table is one report: it adds up, and ends as the last round did."""

import copy

from lake_spec.state.report import FileReport, Report
from lake_spark.step import micro_batch_report
from lake_spark.step.micro_batch_report import MOST_WARNINGS, TableRounds

ERROR = {"type": "ChangedFile", "message": "replaced"}
BAD = {"path": "b.csv", "type": "UnreadableFile", "reason": "cut"}
ASIDE = "SetAsideFile: micro-batch 1: UnreadableFile: b.csv: cut"


def report(**said):
    names = ("run", "release", "domain", "table", "stage", "engine")
    return Report(*(f"the {name}" for name in names), **said)


class Played:
    """Rounds of one table, and the reports that were put after them."""

    def __init__(self):
        self.put = []
        self.rounds = TableRounds(
            report(), lambda each: self.put.append(copy.deepcopy(each))
        )
        self.number = 0

    def round(self, **said):
        self.number += 1
        self.rounds.take(self.number, [report(**said), report()])
        return self.rounds.report

    def end(self, **how):
        self.rounds.end(**how)
        return self.put[-1]


def files(path, accepted):
    found = report(commits={"changes": path})
    found.add_files([FileReport(path, "etag", accepted, accepted)])
    return vars(found)


def taken(path, accepted=1):
    mine = files(path, accepted)
    names = ("commits", "files", "rows_in", "accepted")
    return {name: mine[name] for name in names}


def test_files_and_counts_add_up_and_commits_are_the_latest():
    played = Played()
    played.round(**taken("1.csv", 2), versions=2, versions_opened=2, seconds=1.5)
    played.round()
    played.round(**taken("2.csv", 3), versions=5, versions_opened=3, seconds=2.0)
    end = played.end()
    assert [each.path for each in end.files] == ["1.csv", "2.csv"]
    assert (end.rows_in, end.accepted, end.versions_opened) == (5, 5, 5)
    assert (end.versions, end.seconds, end.state) == (5, 3.5, "done")
    assert end.commits == {"changes": "2.csv"}


def test_the_newest_files_are_listed_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(micro_batch_report, "MOST_FILES", 3)
    played = Played()
    for number in range(5):
        played.round(**taken(f"{number}.csv", 2))
    end = played.end()
    assert [each.path for each in end.files] == ["2.csv", "3.csv", "4.csv"]
    assert (end.unlisted_files, end.rows_in, end.accepted) == (2, 10, 10)


def test_a_report_is_put_after_rounds_that_changed_something_and_at_the_end():
    played = Played()
    played.round(**taken("1.csv"))
    for _ in range(3):
        played.round(current_rows=1)
    assert [each.state for each in played.put] == ["running"]
    assert played.end().state == "done"
    assert len(played.put) == 2


def test_without_anything_new_it_says_so():
    played = Played()
    played.round()
    assert played.end().state == "nothing_new"
    assert played.end(dry_run=True).state == "dry_run"


def test_a_failure_that_heals_is_told_as_a_warning_alone():
    played = Played()
    played.round(error=ERROR)
    assert (played.rounds.failures, played.put[-1].state) == (1, "failed")
    played.round(**taken("1.csv"))
    end = played.end()
    assert (end.state, end.error, played.rounds.failures) == ("done", None, 0)
    assert end.warnings == ["FailedMicroBatch: micro-batch 1: ChangedFile: replaced"]


def test_a_failure_of_the_last_round_is_the_runs():
    played = Played()
    played.round(**taken("1.csv"))
    for _ in range(2):
        played.round(error=ERROR)
    end = played.end()
    assert (end.state, end.error, played.rounds.failures) == ("failed", ERROR, 2)
    assert end.accepted == 1


def test_a_file_that_was_set_aside_makes_the_run_red_and_is_no_failure():
    played = Played()
    played.round(**taken("1.csv"), set_aside=[BAD])
    played.round(set_aside=[BAD])
    assert played.rounds.failures == 0
    assert [each.state for each in played.put] == ["running"]
    end = played.end()
    assert (end.state, end.set_aside) == ("failed", [BAD])
    assert end.error == {"type": "UnreadableFile", "message": "b.csv: cut"}
    assert end.warnings == [ASIDE]


def test_a_file_that_was_mended_is_a_warning_alone():
    played = Played()
    played.round(set_aside=[BAD])
    played.round(**taken("b.csv"))
    end = played.end()
    assert (end.state, end.set_aside) == ("done", [])
    assert end.warnings == [ASIDE]


def test_a_round_that_failed_says_nothing_of_files_that_it_did_not_get_to():
    played = Played()
    played.round(set_aside=[BAD])
    played.round(error=ERROR)
    assert played.rounds.report.set_aside == [BAD]


def test_warnings_are_told_once_and_up_to_a_number(capsys):
    played = Played()
    for number in range(MOST_WARNINGS + 9):
        played.round(warnings=["a tie", f"round {number} had bad rows"])
    end = played.end()
    assert len(end.warnings) == MOST_WARNINGS
    assert end.warnings[:2] == ["a tie", "round 0 had bad rows"]
    assert end.warnings[-1].startswith("MoreWarnings: ")
    assert f"WARNING round {MOST_WARNINGS + 8} had bad rows" in capsys.readouterr().out
