"""Which steps the emulator starts: those of this project, as its DAGs ask for them.

On EMR a step may be any command; here it runs as the person who started the emulator, so
that nothing is started but the project's own application and HoodieStreamer.
"""

from __future__ import annotations

import re
from typing import Callable, Mapping, Optional, Sequence

from lake_emulator.emr.step_rules import StepRules, other_command
from lake_emulator.runtimes import NODE_JARS
from lake_spec.state.report import FAILED_TABLE

STREAMER = "org.apache.hudi.utilities.streamer.HoodieStreamer"
_RELEASE = (
    r"s3://[a-z0-9][a-z0-9.-]*/[A-Za-z0-9/_.-]*releases/[A-Za-z0-9][A-Za-z0-9_.-]*"
)
_MAIN = re.compile(rf"({_RELEASE})/main\.py")
_JAR = rf"(?:s3://[^,\s]+|(?:{NODE_JARS})/[a-z][a-z0-9-]*)\.jar"
_JARS = re.compile(rf"{_JAR}(?:,{_JAR})*")
_UTILITIES = re.compile(r"/usr/lib/hudi/hudi-utilities(?:-slim)?-bundle\.jar")
_JAVA = re.compile(r"-D[A-Za-z.]+=[A-Za-z0-9_.-]+|-XX:ReservedCodeCacheSize=\d+[mg]")
_CONF = re.compile(
    r"(spark\.(?:serializer|sql\.[A-Za-z0-9.]+|hadoop\.parquet\.[a-z0-9.-]+))=\S+"
)
_JAVA_OPTIONS = re.compile(r"spark\.(?:driver|executor)\.extraJavaOptions=(.*)")


def _is_conf(text: str) -> bool:
    found = _JAVA_OPTIONS.fullmatch(text)
    if found:
        return all(_JAVA.fullmatch(each) for each in found[1].split())
    return bool(_CONF.fullmatch(text))


_OPTIONS: Mapping[str, Callable[[str], object]] = {
    "--deploy-mode": lambda text: text == "client",
    "--class": lambda text: text == STREAMER,
    "--jars": _JARS.fullmatch,
    "--py-files": re.compile(rf"({_RELEASE})/lake\.zip,\1/boto3\.zip").fullmatch,
    "--conf": _is_conf,
}
"""What may stand before the application, and with which values."""


def unlike_ours(args: Sequence[str]) -> Optional[str]:
    """Return what of a step's arguments no step of this project has; None for nothing."""
    if other := other_command(args):
        return other
    given = {}
    left = list(args[1:])
    while left and left[0].startswith("-"):
        name, value = left[0], left[1] if len(left) > 1 else ""
        if name not in _OPTIONS or not _OPTIONS[name](value):
            return f"a step of `spark-submit {name} {value[:200]}`"
        given[name] = value
        left = left[2:]
    application = left[0] if left else ""
    main = _MAIN.fullmatch(application)
    if main and "--class" not in given:
        if given.get("--py-files", "").startswith(f"{main[1]}/lake.zip,"):
            return None
    elif _UTILITIES.fullmatch(application) and "--class" in given:
        return None
    return (
        f"a step of the application {application[:200]!r} (only main.py of a release with"
        " its lake.zip and boto3.zip, and HoodieStreamer)"
    )


OWN_STEPS = StepRules(refused=unlike_ours, failure_prefix=FAILED_TABLE)
"""The rules by which the command line starts the emulator."""
