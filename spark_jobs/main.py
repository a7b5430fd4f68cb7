"""The program of every Spark step: see docs/architecture.md for its arguments."""

import sys

from lake_spark.step.application import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
