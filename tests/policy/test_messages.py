"""Every message has an id, a cause and a way to fix it, and the page lists them all."""

from __future__ import annotations

import pytest

from tests.policy import floors, messages
from tests.policy.test_architecture import plant

ROOT = messages.ROOT
ERRORS = "spark_jobs/lake_spark/errors.py"
WARNINGS = messages.WARNINGS
RULES = [
    messages.text_faults,
    messages.base_faults,
    messages.warning_faults,
    messages.unused_warnings,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_code_keeps_the_rule(rule):
    assert rule(ROOT) == []


def test_the_page_shows_the_messages_as_they_are():
    page = messages.PAGE.read_text(encoding="utf-8")
    assert page == messages.page(ROOT), "run: python -m tests.policy.messages"


def test_each_package_is_in_a_section():
    covered = [each for section in messages.SECTIONS for each in section.errors]
    assert sorted(covered) == sorted([*floors.FLOORS, "infra"])


def test_each_section_has_messages():
    for section in messages.SECTIONS:
        assert list(messages.messages_of(ROOT, section)), section.title


@pytest.mark.parametrize(
    "text, fault",
    [
        ("class A(Exception): pass", "begin its text with the cause"),
        ('class A(Exception):\n  """A cause."""', "paragraph `Fix: `"),
        ('class A(Exception):\n  """Fix: Do it."""', "begin its text with the cause"),
        ('class A(Exception):\n  """A cause.\n\n  Fix: do"""', "paragraph `Fix: `"),
        ('class A(OSError):\n  """No end\n\n  Fix: Do it."""', "begin its text"),
        (
            'class A(OSError):\n  """A cause.\n\n  Fix: Run <domain>."""',
            "within backticks",
        ),
        ("class B(A): pass\nclass A(other.LibraryError): pass", f"{ERRORS}:1 B"),
        ("import x\ndef f():\n  class A(x.Exception): pass", f"{ERRORS}:3 A"),
    ],
    ids=[
        *("no docstring", "no fix", "no cause", "no sentence", "no period", "html"),
        *("of a base", "within a function"),
    ],
)
def test_an_error_without_cause_or_fix_is_found(tmp_path, text, fault):
    assert fault in "\n".join(messages.text_faults(plant(tmp_path, ERRORS, text)))


def test_a_whole_error_is_no_fault(tmp_path):
    text = (
        'class A(Exception):\n  """A cause.\n\n  More.\n\n  Fix: Do it. Then that."""'
    )
    plant(tmp_path, ERRORS, f"{text}\nclass NoError: pass")
    assert messages.text_faults(tmp_path) == []
    (found,) = messages.messages_of(tmp_path, messages.SECTIONS[0])
    assert (
        messages.as_markdown(found.text)
        == "A cause.\n\nMore.\n\nFix: Do it. Then that."
    )


def test_an_id_that_is_there_twice_is_found(tmp_path):
    error = 'class Late(Exception):\n  """A cause.\n\n  Fix: Do it."""'
    plant(tmp_path, ERRORS, error)
    member = 'class W(str, Enum):\n  L = "Late"\n  """A cause.\n\n  Fix: Do it."""'
    (found,) = messages.text_faults(plant(tmp_path, WARNINGS, member))
    assert f"{ERRORS}:1 has this id too" in found


@pytest.mark.parametrize(
    "body",
    ['L = "Late"', 'L = "Late"\n  M = "More"\n  """A cause.\n\n  Fix: Do it."""'],
    ids=["the last", "the first"],
)
def test_a_warning_without_text_is_found(tmp_path, body):
    plant(tmp_path, WARNINGS, f"class WarningId(str, Enum):\n  {body}")
    faults = messages.text_faults(tmp_path)
    assert faults and all(f"{WARNINGS}:2 Late" in each for each in faults)


def test_a_rule_has_a_text_under_its_name_with_hyphens(tmp_path):
    text = (
        "@TABLE.rule('key')\ndef key_has_columns(spec): pass\n"
        '@rule\ndef names_differ(spec):\n  """Refuse it.\n\n  Fix: Do it."""\n'
        "@other\ndef helper(spec): pass\n"
    )
    plant(tmp_path, "dags/lake_check/rules/table.py", text)
    section = messages.Section("Specs", "", rules=("dags/lake_check/rules",))
    first, second = messages.messages_of(tmp_path, section)
    assert (first.id, first.text) == ("key-has-columns", "")
    assert (second.id, second.text) == ("names-differ", "Refuse it.\n\nFix: Do it.")


@pytest.mark.parametrize(
    "code",
    [
        "run.report.warnings.append(words)",
        "report.warnings.extend(words)",
        "report.warnings += words",
        "report.warnings[-1] = words",
        "report.warnings = words",
        "del report.warnings[3:]",
        "found = run.report.warnings",
    ],
)
def test_a_warning_without_an_id_is_found(tmp_path, code):
    plant(tmp_path, "spark_jobs/lake_spark/x.py", f"def f(report):\n  {code}")
    (found,) = messages.warning_faults(tmp_path)
    assert found.startswith("spark_jobs/lake_spark/x.py:2: call report.warn(")


@pytest.mark.parametrize(
    "code", ["report.warn(WarningId.X, text)", "warnings = []\nwarnings.append(1)"]
)
def test_other_lists_are_no_fault(tmp_path, code):
    plant(tmp_path, "spark_jobs/lake_spark/x.py", code)
    assert messages.warning_faults(tmp_path) == []


def test_a_base_that_is_made_and_a_name_that_is_gone_are_found(tmp_path):
    plant(tmp_path, ERRORS, "class BadFile(Exception): pass\nx = errors.BadFile('')")
    found = messages.base_faults(tmp_path)
    assert f"{ERRORS}:2 makes a BadFile: make one of its kinds" in found
    assert "NotBlanked is no class: remove it here" in found


def test_a_warning_that_no_code_uses_is_found(tmp_path):
    text = 'class WarningId(str, Enum):\n  LATE = "Late"\n  LATE_SOURCE = "LateSource"'
    plant(tmp_path, WARNINGS, text)
    plant(tmp_path, "dags/x.py", "warn(WarningId.LATE_SOURCE, '')")
    assert messages.unused_warnings(tmp_path) == ["WarningId.LATE"]


def test_a_page_that_is_out_of_date_is_found(tmp_path):
    error = 'class A(Exception):\n  """A cause.\n\n  Fix: Do it."""'
    before = messages.page(plant(tmp_path, ERRORS, error))
    assert "\n### A\nA cause.\n\nFix: Do it.\n" in before
    after = messages.page(plant(tmp_path, ERRORS, error.replace("Do", "Leave")))
    assert after != before
