"""Landing files into typed rows, each judged: the log's columns, or the reason why it is bad."""
