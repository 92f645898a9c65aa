"""The laboratory: what the papers claim, re-derived. It stands on the rest of Penstock, and nothing else
imports it."""
