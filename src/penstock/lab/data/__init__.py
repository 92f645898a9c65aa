"""Data sets by name, what the papers do to them, and synthetic data: all of it seeded."""
