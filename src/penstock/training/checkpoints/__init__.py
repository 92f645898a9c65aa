"""Checkpoints: a training that was stopped goes on as if it never had been."""
