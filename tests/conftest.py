"""Shapes in signatures are checked while the tests run: jaxtyping's hook, with beartype behind it."""

import os
import tempfile

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("penstock", "beartype.beartype")

# Nothing a test runs may read or write what the person running it keeps.
_RUNS = tempfile.TemporaryDirectory(prefix="penstock-runs-")
os.environ["PENSTOCK_RUNS"] = _RUNS.name
# Data alone are read where PENSTOCK_DATA says; without it there are none, and nothing is downloaded.
_NO_DATA = tempfile.TemporaryDirectory(prefix="penstock-data-")
os.environ.setdefault("PENSTOCK_DATA", _NO_DATA.name)

# Theorems are tested on random cases, the same ones each time: what fails here fails for everyone.
settings.register_profile("penstock", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("penstock")
