"""What holds the documentation true: its examples run, and what its tables name is there."""
