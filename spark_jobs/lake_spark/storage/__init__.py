"""Objects, Hudi tables and the Spark session: what everything else stands on."""
