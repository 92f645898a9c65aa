"""Training: the loop that trains an ensemble at once, and what it is given."""
