"""A training in a process of its own, forked off a small one, that is killed while it runs.

`python killed.py FOLDER` trains once without interruption; then again and again with a checkpoint folder,
killed with SIGKILL at random moments, until ten kills have struck and a last start has run to the end. It
prints the number of kills and whether both ended with the same bits.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn

from penstock.training.checkpoints.when import Checkpoints
from penstock.training.examples import Examples
from penstock.training.loop import train
from penstock.training.member import Member
from penstock.training.recipe import Adam, Recipe

KILLS = 10


def digest(checkpoint: Checkpoints | None) -> bytes:
    """What the training ends with: weights and metrics, but for the seconds."""
    members = []
    for seed in range(3):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
        members.append(Member(f"seed {seed}", model, seed))
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(203, 6, generator=generator)
    data = Examples(x, x[:, :3].argmax(1))
    trained = train(members, data, data, Recipe(12, Adam(1e-3), batch=10), checkpoint=checkpoint)
    content = b""
    for each in trained:
        content += b"".join(tensor.numpy().tobytes() for tensor in each.model.state_dict().values())
        content += b"".join(v.tobytes() for name, v in each.history.items() if name != "seconds")
    return content


def forked(work) -> int:
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    return child


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    whole, killed = folder / "whole", folder / "killed"
    began = time.monotonic()
    os.waitpid(forked(lambda: whole.write_bytes(digest(None))), 0)
    seconds = time.monotonic() - began
    # so often that a start gets somewhere before it is killed
    checkpoints = Checkpoints(folder / "checkpoints", seconds=seconds / 100)
    moments, kills = random.Random(0), 0
    while kills < KILLS:
        child = forked(lambda: killed.write_bytes(digest(checkpoints)))
        time.sleep(seconds * moments.uniform(0.03, 0.12))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print("ended before it was killed")
            return
        kills += 1
    os.waitpid(forked(lambda: killed.write_bytes(digest(checkpoints))), 0)
    print(kills, "kills,", "same" if whole.read_bytes() == killed.read_bytes() else "different")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
