"""One file an operation, with what it means to each question."""
