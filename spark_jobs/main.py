"""The program of every Spark step: see docs/architecture.md for its arguments."""

import sys

from lake_spark.step.application import main
from lake_spark.step.shipped_packages import unpack

if __name__ == "__main__":
    unpack()
    sys.exit(main(sys.argv[1:]))
