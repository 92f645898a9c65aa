"""`penstock`, with the claims of the tests in its table."""

import sys
from pathlib import Path

import penstock.lab.claims
from penstock.cli import main

penstock.lab.claims.__path__.append(str(Path(__file__).parents[1] / "lab" / "toy_claims"))
sys.exit(main())
