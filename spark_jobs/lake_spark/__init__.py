"""The Spark side of the lake: change log, current and history on Hudi."""
