"""Draws the pictures of these pages again: `python docs/images/draw.py`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: The picture, and the claim that draws it.
PICTURES = {"active-subnetworks.svg": "N3"}


def draw(claim: str, into: Path) -> Path:
    """The picture of a claim, drawn by running it afresh in a folder of its own."""
    reproduce = [sys.executable, "-m", "penstock", "reproduce", claim]
    subprocess.run(
        [*reproduce, "--scale", "smoke", "--runs", into],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (picture,) = into.rglob("*.svg")
    return picture


def main() -> None:
    here = Path(__file__).parent
    for name, claim in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(draw(claim, Path(folder)), here / name)
        print(f"drawn by {claim}: {here / name}")


if __name__ == "__main__":
    main()
