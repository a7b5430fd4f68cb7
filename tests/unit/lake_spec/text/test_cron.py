"""Schedules are five fields of cron or a preset."""

import pytest

from lake_spec.text.cron import BadCron, check_cron


@pytest.mark.parametrize(
    "text",
    [
        "* * * * *",
        "0 3 * * *",
        "*/15 0-6,22 1 jan-mar,12 mon-fri",
        "59 23 31 12 7",
        "0-30/5 * * * SUN",
        "@hourly",
        "0 0 29 2 *",
        "0 0 31 2,4,5 *",
        "0 0 30-31 4 *",
        "0 0 30 2 mon",
    ],
)
def test_schedules_pass(text):
    check_cron(text)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "Write five fields with single spaces"),
        ("0 3 * *", "Write five fields with single spaces"),
        ("0 3 * * * *", "Write five fields with single spaces"),
        ("0  3 * * *", "Write five fields with single spaces"),
        ("@never", "or one of: @hourly, @daily"),
        ("60 * * * *", "The minute '60' is not valid: write 0 to 59"),
        ("0 24 * * *", "The hour '24' is not valid: write 0 to 23"),
        ("0 0 0 * *", "The day of month '0' is not valid: write 1 to 31"),
        ("0 0 * foo *", "The month 'foo' is not valid: write 1 to 12 or jan, feb"),
        ("0 0 * * 8", "The day of week '8' is not valid: write 0 to 7 or sun"),
        ("*/0 * * * *", r"The minute '\*/0' is not valid"),
        ("5-1 * * * *", "The minute '5-1' is not valid"),
        ("1,,2 * * * *", "The minute '' is not valid"),
        ("-1 * * * *", "The minute '-1' is not valid"),
        ("{{x}} * * * *", "The minute '{{x}}' is not valid"),
        ("0 3 31 2 *", "No month of '2' has a day '31', so it would never start"),
        ("0 0 30 feb *", "No month of 'feb' has a day '30'"),
        ("0 0 31 4,6 *", "No month of '4,6' has a day '31'"),
        ("0 0 31 4-11/5 */1", "No month of '4-11/5' has a day '31'"),
        ("0 0 30-31 2 0-6", "No month of '2' has a day '30-31'"),
        ("* * * *\n*", "Write five fields"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(BadCron, match=message):
        check_cron(text)
