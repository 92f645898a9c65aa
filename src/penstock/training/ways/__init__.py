"""Ways of evaluating the members of an ensemble at once, one a file."""
