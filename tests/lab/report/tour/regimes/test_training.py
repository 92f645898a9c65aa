"""What the tour's five trainings saw is what their networks are: gates that are fixed stay, FLNPF's are
ReLU's, and the counts are those of records compared by hand."""

import numpy as np
import pytest
import torch

import penstock
from lab.report.tour.small import SMALL
from penstock.lab.claims.table_2 import REGIMES
from penstock.lab.data.named import load_data
from penstock.lab.models.fully_connected import fc_network
from penstock.lab.models.random_sizes import seeded
from penstock.lab.report.tour.regimes.training import Regimes, train_regimes
from penstock.lab.report.tour.regimes.watching import Watch, gathered, sorted_by_class


def test_the_columns_stand_in_the_papers_order(regimes: Regimes):
    assert tuple(regimes.courses) == REGIMES
    for course in regimes.courses.values():
        assert course.test.shape == (len(SMALL.seeds), SMALL.epochs)
        assert course.movement.since_start.shape == (5, SMALL.epochs + 1)


@pytest.mark.parametrize("regime", ["frnpf-ii", "frnpf-di", "flnpf"])
def test_fixed_gates_never_move(regimes: Regimes, regime: str):
    movement = regimes.courses[regime].movement
    assert not movement.moves
    assert not movement.since_start.any()
    assert (movement.film == movement.film[0]).all()


@pytest.mark.parametrize("regime", ["relu", "dlnpf"])
def test_learnt_gates_move(regimes: Regimes, regime: str):
    movement = regimes.courses[regime].movement
    assert movement.moves
    assert (movement.since_start[:, 0] == 0).all()
    assert (movement.since_start[:, -1] > 0).all()


def test_flnpf_has_all_along_the_gates_with_which_relu_ends(regimes: Regimes):
    relu, fixed = (regimes.courses[name].movement for name in ("relu", "flnpf"))
    assert (fixed.film == relu.film[-1]).all()
    assert fixed.open[:, 0] == pytest.approx(relu.open[:, -1])


def test_both_kinds_of_random_gates_are_the_same_gates(regimes: Regimes):
    one, other = (regimes.courses[name].movement for name in ("frnpf-ii", "frnpf-di"))
    assert (one.film == other.film).all()


def test_the_film_begins_with_the_gates_of_the_first_seeds_network(regimes: Regimes):
    test = load_data("digits").flat().test
    rows = sorted_by_class(test.y, SMALL.of_each_class)
    model = fc_network(seeded(SMALL.seeds[0], 0), inputs=64, width=SMALL.width)
    gates = penstock.capture(model, test.x[rows]).to_dense()
    wanted = torch.stack([layer[:, : SMALL.units].T for layer in gates.values()])
    assert (regimes.courses["relu"].movement.film[0] == wanted.numpy()).all()


def test_rows_of_the_film_are_sorted_by_class():
    y = torch.tensor([2, 0, 1, 0, 2, 0, 1])
    assert sorted_by_class(y, 2).tolist() == [1, 3, 2, 6, 0, 4]


def test_shares_are_those_of_records_compared_by_hand():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(40, 5, generator=generator)
    models = [fc_network(seeded(seed, 7), inputs=5, width=9, hidden=2) for seed in (0, 1)]
    watches = [Watch(model, x, torch.arange(4)) for model in models]
    records = [[penstock.capture(model, x).to_dense()] for model in models]
    for _ in range(2):
        for model, watch, seen in zip(models, watches, records, strict=True):
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
            watch.look()
            seen.append(penstock.capture(model, x).to_dense())
    movement = gathered(watches, units=3)
    for layer, name in enumerate(records[0][0]):
        flipped = np.mean([float((seen[2][name] != seen[0][name]).float().mean()) for seen in records])
        last = np.mean([float((seen[2][name] != seen[1][name]).float().mean()) for seen in records])
        dead = np.mean([float((~seen[2][name].any(dim=0)).float().mean()) for seen in records])
        assert movement.since_start[layer, 2] == pytest.approx(flipped)
        assert movement.since_look[layer, 2] == pytest.approx(last)
        assert movement.dead[layer, 2] == pytest.approx(dead)
        assert (movement.film[2, layer] == records[0][2][name][:4, :3].T.numpy()).all()
    assert movement.gates == 2 * 2 * 9 * 40


def test_progress_is_followed_and_threads_are_given_back():
    threads = torch.get_num_threads()
    followed: list[str] = []

    def follow(steps, what, total):
        followed.append(what)
        return iter(steps)

    small = type(SMALL)(width=4, epochs=1, seeds=(0,), units=2, of_each_class=1)
    train_regimes(small, follow)
    assert followed[0] == "regimes"
    assert followed.count("epochs") == len(REGIMES)
    assert torch.get_num_threads() == threads
