"""Run folders: what a claim's run writes, read back, found again, never half-written."""
