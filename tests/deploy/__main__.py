"""Every check of templates, workflows, releases and roles, without an account.

    python -m tests.deploy

Our own rules, what the code calls against what its roles are granted, the linters from
their own environment, and the tests of releases and of what MWAA and EMR get, each of
which is a check. The last line says `N checks, M failed`; the exit code is 1 if M is
not 0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Callable, Iterator, List, Tuple

from tests.deploy.checks import (
    actionlint,
    checkov,
    import_faults,
    lint,
    rule_checks,
    terraform,
    zizmor,
)
from tests.deploy.facts import FACTS, endpoint_faults, wrong
from tests.deploy.granted import ROLES
from tests.deploy.suites import SUITES, run


def checks(folder: Path) -> Iterator[Tuple[str, Callable[[], List[str]]]]:
    """Every check: what it is called, and what gives its findings."""
    for check in rule_checks():
        yield f"{check.template}: {check.rule}", check.find
    for name, compare in ROLES.items():
        yield f"role of {name}: calls are granted", lambda c=compare: c().faults()
    for name, facts in FACTS.items():
        yield f"as AWS documents it: {name}", lambda f=facts: wrong(f)
    yield "every service that is called has an endpoint", endpoint_faults
    yield "layers hand on what the next ones take", import_faults
    yield "cfn-lint", lambda: lint(folder)
    yield "checkov", lambda: checkov(folder)
    yield "checkov on the Terraform module", terraform
    yield "zizmor", zizmor
    yield "actionlint", actionlint


def main() -> int:
    """Run them all, a line for each."""
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args()
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, find in checks(Path(folder)):
            found = find()
            _tell(name, found)
            count += 1
            failed += bool(found)
    for suite in SUITES:
        tested = run(suite)
        _tell(f"{suite.name}: {tested.count} tests", tested.failures)
        count += tested.count
        failed += len(tested.failures)
    print(f"{count} checks, {failed} failed")
    return 1 if failed else 0


def _tell(name: str, found: List[str]) -> None:
    print(f"{'FAILED' if found else 'ok':6} {name}", flush=True)
    for each in found:
        print(f"       {each}")


if __name__ == "__main__":
    sys.exit(main())
