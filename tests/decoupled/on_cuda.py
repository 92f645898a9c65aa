"""Decoupled networks on a GPU against the CPU: `PYTHONPATH=src:tests python tests/decoupled/on_cuda.py`.

The pytest file beside it runs the same functions; this one needs nothing but torch and what Penstock computes
with.
"""

import copy
import sys
import time

import torch

from decoupled.ways.pairs import PAIRS, pairs
from penstock import Soft, capture, decouple, regime, sensitivity
from penstock.training.loop import train
from penstock.training.recipe import Adam, Recipe
from training.networks import chain, classes, convolutional
from training.on_cuda import assert_alike, on_device

__all__ = ["CHECKS"]


def check_outputs_and_gates() -> None:
    """A pair gives on the GPU what it gives on the CPU, and opens the same gates."""
    x = classes(23).x
    for make in (chain, convolutional):
        model = make().double()
        for pair in (decouple(model), decouple(model, Soft()), regime(model, "frnpf-ii")):
            there = copy.deepcopy(pair).cuda()
            torch.testing.assert_close(there(x.cuda()).cpu(), pair(x), rtol=1e-9, atol=1e-9)
            for name, layer in capture(pair, x).items():
                torch.testing.assert_close(capture(there, x.cuda())[name].to_dense().cpu(), layer.to_dense())


def check_a_large_batch() -> None:
    """Where a CPU would keep gates packed or learn through them in compiled code."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 512), torch.nn.ReLU(), torch.nn.Linear(512, 3)).double()
    x = torch.randn(4096, 6, dtype=torch.float64)
    for pair in (decouple(model), decouple(model, Soft())):
        there = copy.deepcopy(pair).cuda()
        for network, inputs in ((pair, x), (there, x.cuda())):
            network(inputs).square().sum().backward()
        for ours, its in zip(pair.parameters(), there.parameters(), strict=True):
            assert (ours.grad is None) == (its.grad is None)
            if ours.grad is not None and its.grad is not None:
                torch.testing.assert_close(its.grad.cpu(), ours.grad, rtol=1e-7, atol=1e-7)


def check_every_way() -> None:
    for name in PAIRS:
        recipe = Recipe(8, Adam(3e-3), batch=5)
        here, there = pairs(name), on_device(pairs(name))
        cpu = train(here, classes(23), classes(40, seed=1), recipe)
        gpu = train(there, classes(23).to("cuda"), classes(40, seed=1).to("cuda"), recipe)
        try:
            assert_alike(cpu, gpu)
        except AssertionError as error:
            raise AssertionError(f"{name} ({gpu[0].way}): {error}") from error


def check_sensitivity() -> None:
    x, pair = classes(23).x, decouple(chain().double(), Soft())
    there = sensitivity(copy.deepcopy(pair).cuda(), x.cuda())
    for name, each in sensitivity(pair, x).items():
        torch.testing.assert_close(there[name].cpu(), each, rtol=1e-8, atol=1e-10)


CHECKS = {
    "outputs and gates": check_outputs_and_gates,
    "a large batch": check_a_large_batch,
    "every way": check_every_way,
    "sensitivity": check_sensitivity,
}


def main() -> int:
    failed = 0
    for name, check in CHECKS.items():
        began = time.perf_counter()
        try:
            check()
        except Exception as error:  # all of them are to be heard, whatever the first one says
            failed += 1
            print(f"{name}: FAILED: {type(error).__name__}: {str(error)[:2000]}", flush=True)
        else:
            print(f"{name}: alike, {time.perf_counter() - began:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
