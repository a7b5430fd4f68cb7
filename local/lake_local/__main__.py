"""`python -m lake_local`: what run_locally.sh calls."""

import sys

from lake_local.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
