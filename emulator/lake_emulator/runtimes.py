"""Selects Spark, Hudi and Python on this machine by the release label.

`LAKE_VENVS` and `LAKE_JARS` are their folders; the defaults are
`<project>/.venv-*` and `<project>/.local/jars`. `LAKE_JAVA_OPTIONS` replaces
the options of the Spark driver's JVM, which favour a quick start.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Sequence

LABELS = ("emr-7.11.0", "emr-7.12.0", "emr-7.13.0", "emr-7.14.0")
"""Releases whose Spark and Hudi a runtime of this machine stands in for."""
HUDI_JARS = "/usr/lib/hudi"
NODE_JARS = "|".join(
    (HUDI_JARS, "/usr/lib/spark/connector/lib", "/usr/share/aws/iceberg/lib")
)
"""Folders of a node's jars that a step may name, as a regular expression."""
PROJECT = Path(__file__).resolve().parents[2]
NODE = Path(__file__).resolve().parent / "node"
"""What the Python of a step imports first."""
EMR_JAR = re.compile(rf"(?:{NODE_JARS})/([a-z][a-z0-9-]*)\.jar$")
NOT_SHARED = ("slf4j-", "spark-avro", "iceberg-")
"""What a step does not get by itself: it would shadow Spark's own, or is named."""
UTILITIES = "org.apache.hudi.utilities."
DEFAULTS = "spark-defaults.conf"
LOGGING = "log4j2.properties"
ARCHIVE = "classes-{size}.jsa"
EMPTY = "empty"


class RuntimeMissing(Exception):
    """A step needs a Spark version or a jar that is not installed on this machine.

    Fix: Run ./setup.sh, then start the run again.
    """


@dataclass(frozen=True)
class Runtime:
    """One Spark with its jars, standing in for what an EMR release carries."""

    name: str
    venv: str
    jars: str
    emr_jars: tuple[tuple[str, str], ...]

    @property
    def home(self) -> Path:
        root = Path(os.environ.get("LAKE_VENVS", PROJECT))
        return root / f".venv-{self.venv}"

    @property
    def jar_folder(self) -> Path:
        return jars_root() / self.jars

    @property
    def class_path(self) -> str:
        """The runtime's jars that each step has without asking."""
        found = [
            str(jar)
            for jar in sorted(self.jar_folder.glob("*.jar"))
            if not jar.name.startswith(NOT_SHARED)
        ]
        if not found:
            raise RuntimeMissing(
                f"{self.name} is not set up: no jars in {self.jar_folder}. {SET_UP}"
            )
        extra = self.emr_jar("hudi-utilities-bundle")
        return ":".join([*found, str(extra)] if extra else found)

    @property
    def class_data(self) -> Path:
        """The folder of the archive of classes, which `class_data` makes at set-up."""
        return jars_root().parent / "class-data" / self.jars

    @property
    def python(self) -> Path:
        return self.home / "bin" / "python"

    @property
    def spark_home(self) -> Path:
        found = sorted(self.home.glob("lib/python3*/site-packages/pyspark"))
        if not found:
            raise RuntimeMissing(
                f"{self.name} is not set up: no pyspark in {self.home}. {SET_UP}"
            )
        return found[0].resolve()  # as PySpark finds it, so that class paths are equal

    def emr_jar(self, name: str) -> Path | None:
        """Return the jar that stands in for `<name>.jar` of a node, if there is one."""
        for known, pattern in self.emr_jars:
            if known == name:
                found = sorted(jars_root().glob(pattern))
                if not found:
                    place = jars_root() / pattern
                    raise RuntimeMissing(
                        f"{self.name} is not set up: {place} is missing. {SET_UP}"
                    )
                return found[0]
        return None


SET_UP = "Run ./setup.sh, which installs what is missing."
SPARK_35 = Runtime(
    "Spark 3.5.6 with Hudi 1.0.2",
    "spark",
    "spark-3.5",
    (
        ("hudi-spark-bundle", "spark-3.5/hudi-spark3.5-bundle*.jar"),
        ("spark-avro", "spark-3.5/spark-avro*.jar"),
        ("iceberg-spark3-runtime", "spark-3.5/iceberg-spark-runtime*.jar"),
    ),
)
STREAMER = Runtime(
    "Spark 3.4.4 with Hudi 0.14.0",
    "streamer",
    "spark-3.4",
    (
        ("hudi-spark-bundle", "spark-3.4/hudi-spark3.4-bundle*.jar"),
        ("spark-avro", "spark-3.4/spark-avro*.jar"),
        ("hudi-utilities-bundle", "streamer/hudi-utilities-slim.jar"),
        ("hudi-utilities-slim-bundle", "streamer/hudi-utilities-slim.jar"),
    ),
)
RELEASES = dict.fromkeys(LABELS, SPARK_35)


def jars_root() -> Path:
    return Path(os.environ.get("LAKE_JARS", PROJECT / ".local" / "jars"))


def runtime_of(label: str, args: Sequence[str]) -> Runtime:
    """Return the runtime of a step; Hudi's own utilities have one of theirs."""
    if _main_class(args).startswith(UTILITIES):
        return STREAMER
    return RELEASES[label]


@dataclass(frozen=True)
class Command:
    """An argument list and the environment that it needs."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    notes: tuple[str, ...] = ()


def command(
    label: str,
    args: Sequence[str],
    *,
    endpoint: str,
    secret: str,
    scratch: Path,
    properties: Mapping[str, str],
) -> Command:
    """Return what `command-runner.jar` would start for these arguments.

    `scratch` gets the Spark settings; `properties` are the cluster's own
    (classification `spark-defaults`), which win over ours.
    """
    runtime = runtime_of(label, args)
    env = {**_aws(endpoint, secret), **_python(runtime)}
    if args[0] != "spark-submit":
        return Command(tuple(args), env)
    resolved, notes = _resolve_jars(runtime, args[1:])
    conf = _write_defaults(runtime, scratch, endpoint, properties)
    env.update(SPARK_HOME=str(runtime.spark_home))
    env.update(SPARK_CONF_DIR=str(empty_folder(runtime, scratch)))
    env.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_DIRS=str(scratch))
    env.update(TMPDIR=str(scratch))
    if conf.as_uri() == f"file://{conf}":  # Hudi reads it as a URI, without blanks
        env.update(HUDI_CONF_DIR=str(conf))
    submit = str(runtime.spark_home / "bin" / "spark-submit")
    settings = str(conf / DEFAULTS)
    return Command((submit, "--properties-file", settings, *resolved), env, notes)


def empty_folder(runtime: Runtime, scratch: Path) -> Path:
    """Return the folder that Spark adds to the class path, where it looks for settings.

    The JVM takes an archive only for the class path that it was made with, and that may
    have no folder with files in it.
    """
    found = runtime.class_data / EMPTY
    if not found.is_dir():
        found = scratch / EMPTY
        found.mkdir(parents=True, exist_ok=True)
    return found


def class_archive(runtime: Runtime) -> Path | None:
    """Return the archive of classes, if there is a whole one: a cut one ends the JVM."""
    for found in runtime.class_data.glob(ARCHIVE.format(size="*")):
        if found.name == ARCHIVE.format(size=found.stat().st_size):
            return found
    return None


def class_data_options(runtime: Runtime) -> str:
    """Return the JVM's options for the archive of classes; empty if there is none.

    The JVM compares the archive with itself, the class path and the time of each jar, and
    goes on without where one differs, so its warnings about that are left out.
    """
    archive = class_archive(runtime)
    if archive is None:
        return ""
    return f'"-XX:SharedArchiveFile={archive}" -Xlog:cds*=off -Xlog:class+path*=off'


def _main_class(args: Sequence[str]) -> str:
    for option, value in zip(args, args[1:]):
        if option == "--class":
            return value
    return ""


def _resolve_jars(
    runtime: Runtime, args: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return a node's own jars by their stand-ins; in a list of jars, or leave it out."""
    resolved: list[str] = []
    notes: list[str] = []
    for arg in args:
        kept = []
        for part in arg.split(",") if "/usr/" in arg else [arg]:
            found = EMR_JAR.match(part)
            jar = runtime.emr_jar(found.group(1)) if found else part
            if jar is None and arg == part:
                raise RuntimeMissing(
                    f"{part}: {runtime.name} on this machine has no such jar. Remove it from the"
                    " step, or run the step on EMR."
                )
            if jar is None:
                notes.append(f"skipped the jar {part}: {runtime.name} does not have it")
            else:
                kept.append(str(jar))
        resolved.append(",".join(kept))
    return resolved, tuple(notes)


def _aws(endpoint: str, secret: str) -> dict[str, str]:
    """What a step with a runtime role has: credentials, no region, no metadata."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _python(runtime: Runtime) -> dict[str, str]:
    """Return the variables of `python3`: the one of the release's Spark, as on EMR."""
    env = {"PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC", "PYTHONPATH": str(NODE)}
    if runtime.python.exists():
        env["PYSPARK_PYTHON"] = str(runtime.python)
        env["PATH"] = f"{runtime.python.parent}:{os.environ.get('PATH', '')}"
    return env


def _write_defaults(
    runtime: Runtime, scratch: Path, endpoint: str, properties: Mapping[str, str]
) -> Path:
    conf = scratch / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    own = {name: _without_hudi_jars(value) for name, value in properties.items()}
    own = {name: value for name, value in own.items() if value}
    settings = {**_defaults(runtime, scratch, endpoint), **own}
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (conf / DEFAULTS).write_text("".join(lines))
    (conf / LOGGING).write_text(LOG4J)
    (conf / "hudi-defaults.conf").touch()
    return conf


def _without_hudi_jars(value: str) -> str:
    """Remove a cluster's own Hudi jars: they are on the class path already."""
    if f"{HUDI_JARS}/" not in value:
        return value
    return ",".join(
        part for part in value.split(",") if not part.startswith(f"{HUDI_JARS}/")
    )


def _defaults(runtime: Runtime, scratch: Path, endpoint: str) -> dict[str, str]:
    java = (
        f'-Duser.timezone=UTC "-Dderby.system.home={scratch}"'
        f' "-Djava.io.tmpdir={scratch}"'
        f' "-Dlog4j2.configurationFile={(scratch / "conf" / LOGGING).as_uri()}"'
        f" {class_data_options(runtime)}"
        f" {os.environ.get('LAKE_JAVA_OPTIONS', JAVA_OPTIONS)}"
    )
    s3a = "spark.hadoop.fs.s3a"
    return {
        "spark.master": "local[*]",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": runtime.class_path,
        # As on EMR: a job adds to these by extraJavaOptions.
        "spark.driver.defaultJavaOptions": java,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
        f"{s3a}.endpoint": endpoint,
        f"{s3a}.endpoint.region": "us-east-1",
        f"{s3a}.path.style.access": "true",
        f"{s3a}.connection.ssl.enabled": "false",
        f"{s3a}.aws.credentials.provider": CREDENTIALS,
        f"{s3a}.fast.upload.buffer": "bytebuffer",
        f"{s3a}.change.detection.mode": "none",
        f"{s3a}.bucket.probe": "0",
        f"{s3a}.attempts.maximum": "3",
        f"{s3a}.buffer.dir": str(scratch),
        # Our own steps choose it by the cores.
        **({"spark.sql.shuffle.partitions": "2"} if runtime is STREAMER else {}),
    }


CREDENTIALS = "com.amazonaws.auth.EnvironmentVariableCredentialsProvider"
JAVA_OPTIONS = (
    # One compiler alone leaves 48 MB for compiled code, which a few tables fill: the
    # JVM then dies. This is more than what it has with both.
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
    # Else Java collects garbage when its classes pass 21 MB, and at limits above.
    " -XX:MetaspaceSize=256m -Xshare:auto"
    " -Djol.skipDynamicAttach=true -Djol.skipHotspotSAAttach=true"
)
LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.metrics.name = org.apache.hadoop.metrics2
logger.metrics.level = error
"""
