"""Networks that nobody here wrote, from PyPI packages, and what Penstock makes of them: `make strangers`."""
