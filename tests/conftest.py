"""Shapes in signatures are checked while the tests run: jaxtyping's hook, with beartype behind it."""

import os
import tempfile

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("penstock", "beartype.beartype")

# Nothing a test runs may read or write what the person running it keeps.
os.environ["PENSTOCK_RUNS"] = tempfile.mkdtemp(prefix="penstock-runs-")

# Theorems are tested on random cases, the same ones each time: what fails here fails for everyone.
settings.register_profile("penstock", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("penstock")
