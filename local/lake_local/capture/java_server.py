"""A server of Kafka: a JVM with a properties file."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

from lake_local.capture.installed import java
from lake_local.capture.server import Server

LOG4J = {
    "log4j.rootLogger": "INFO, stdout",
    "log4j.appender.stdout": "org.apache.log4j.ConsoleAppender",
    "log4j.appender.stdout.layout": "org.apache.log4j.PatternLayout",
    "log4j.appender.stdout.layout.ConversionPattern": "%d{ISO8601} %p %m (%c{1})%n",
    "log4j.logger.org.reflections": "ERROR",
}
# They serve one machine, so a quick start and little memory count more than speed.
SMALL_AND_FAST = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class JavaServer(Server):
    """The base of the broker and the worker."""

    main_class: str
    heap: str

    def settings(self) -> Dict[str, str]:
        """Return the content of its properties file."""
        raise NotImplementedError

    @property
    def settings_file(self) -> Path:
        """Return the path of its properties file."""
        return self.folder / f"{self.name}.properties"

    def prepare(self) -> None:
        write_properties(self.settings_file, self.settings())
        write_properties(self.folder / "log4j.properties", LOG4J)

    def command(self) -> List[str]:
        return self.java(self.main_class, str(self.settings_file))

    def java(self, main_class: str, *arguments: str) -> List[str]:
        """Return the command that runs a class with this server's heap and log settings."""
        log4j = f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}"
        options = [f"-Xmx{self.heap}", "-Duser.timezone=UTC", log4j, *SMALL_AND_FAST]
        return java(main_class, *arguments, options=options)


def write_properties(path: Path, settings: Dict[str, str]) -> None:
    """Write a properties file; the values must need no escapes."""
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
