"""The program of every Spark step: see docs/architecture.md for its arguments."""

import hashlib
import sys
from pathlib import Path


def check_packages(argv, path):
    """End the step if the zips on the path are not those that Airflow told it.

    `--sha256` is what the release was built with (docs/releases.md). This goes before
    any import of the zips, so nothing of them can be used here.
    """
    if "--sha256" not in argv:
        return  # of a run that a release without it began
    told = argv[argv.index("--sha256") + 1].split(",")
    for name, expected in (each.split("=") for each in told):
        if not name.endswith(".zip"):
            continue
        on_path = (Path(each) for each in path)
        files = [each for each in on_path if each.name == name and each.is_file()]
        found = {hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        if found != {expected}:
            sys.exit(
                f"{name} is not that of the release: its SHA-256 is "
                f"{', '.join(sorted(found)) or 'unknown, as it is missing'}, expected "
                f"{expected}. Somebody replaced it: find out who, delete the object, "
                "and deploy the commit of the release, which puts it again."
            )


if __name__ == "__main__":
    check_packages(sys.argv, sys.path)

    from lake_spark.step.application import main
    from lake_spark.step.shipped_packages import unpack

    unpack()
    sys.exit(main(sys.argv[1:]))
