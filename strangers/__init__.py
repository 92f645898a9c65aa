"""Networks that nobody here wrote, from packages on PyPI, and what Penstock makes of them: `make strangers`."""
