"""Between flips the gates stand still and K is continuous; at a flip that changes a path it jumps (N
Definition 3.3)."""

from itertools import pairwise

import pytest

from penstock.lab.report.tour.training import STEPS, Training


def test_it_learns(training: Training):
    assert len(training.losses) == len(training.outputs) == STEPS + 1
    assert training.losses[-1] < training.losses[0] / 100
    assert training.outputs[-1] == pytest.approx(training.targets, abs=0.5)


def test_gates_flip_for_every_input(training: Training):
    assert {flip.example for flip in training.flips} == {0, 1, 2}


def test_stretches_follow_upon_each_other_and_differ_by_the_gate_that_flipped(training: Training):
    stretches = training.stretches
    assert (stretches[0].begin, stretches[-1].end) == (0.0, STEPS)
    for flip, (before, after) in zip(training.flips, pairwise(stretches), strict=True):
        assert before.end == after.begin == flip.hi
        changed = [(a != b).nonzero().tolist() for a, b in zip(before.gates, after.gates, strict=True)]
        layer = {"1": 0, "3": 1}[flip.layer]
        assert changed[layer] == [[flip.example, *flip.unit]]
        assert changed[1 - layer] == []


def test_the_kernel_jumps_where_a_path_comes_or_goes_and_nowhere_else(training: Training):
    jumps = {
        (flip.lo, flip.hi): {
            each.example for each in training.flips if each.lo == flip.lo and each.changes_npf
        }
        for flip in training.flips
    }
    for before, after in pairwise(training.instants):
        for example in range(3):
            change = abs(after.kernel[example] / before.kernel[example] - 1)
            if example in jumps.get((before.time, after.time), ()):
                assert change > 0.02
            elif after.time - before.time < 0.01:
                assert change < 1e-3
            else:
                assert change < 0.2


def test_progress_is_followed(monkeypatch: pytest.MonkeyPatch):
    from penstock.lab.report.tour import training as module

    monkeypatch.setattr(module, "STEPS", 2)
    seen: list[int] = []

    def follow(steps):
        for step in steps:
            seen.append(step)
            yield step

    assert len(module.train(follow).losses) == 3
    assert seen == [0, 1]
