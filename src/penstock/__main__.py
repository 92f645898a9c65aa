"""`python -m penstock` is `penstock`."""

import sys

from penstock.cli import main

if __name__ == "__main__":
    sys.exit(main())
