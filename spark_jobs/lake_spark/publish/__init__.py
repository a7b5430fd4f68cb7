"""Tables as readers of other engines find them: metadata of Iceberg and Delta on the same files."""
