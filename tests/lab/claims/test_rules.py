"""The rules of the exact claims can fail: good evidence passes, what speaks against the claim does not."""

from typing import Any

import pytest
import torch

from penstock.lab.claims.deviation import ALLOWED
from penstock.lab.claims.listing import built_claims

TABLE_3 = torch.tensor([[5, 3, 0, 0], [0, 0, 4, 2], [3, 1, 0, 0], [0, 0, 2, 1]])

GOOD: dict[str, dict[str, Any]] = {
    "N2": {
        "networks": 10,
        "networks_shut_for_every_input": 1,
        "largest_deviation": 1.0,
        "kinds": "a; b",
        "paths": 99,
    },
    "N3": {
        "paths": 18,
        "miscounted": 0,
        "order_is_off_by": 0.0,
        "output_is_off_by": 0.0,
        "open_for_x1_and_x2": "p3 p12",
        "shared_paths": torch.tensor([[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 2.0]]),
    },
    "N4": {
        "cases": 10,
        "counted": 9,
        "kernel_is_off_by": 1.0,
        "paths_miscounted": 0,
        "undivided_is_off_by_at_least": 1e6,
    },
    "N5": {
        "networks": 10,
        "networks_with_zero_kernel": 0,
        "largest_deviation": 1.0,
        "wrong_where_paths_are_taken_apart": 9,
        "kinds": "a; b",
        "paths": 99,
    },
    "N7": {
        "cases": 10,
        "regular": 6,
        "above_the_bound": 0,
        "closest_to_the_bound": 0.9,
        "above_with_the_mean_eigenvalue": 2,
    },
    "N12": {
        "mean_off_by": 2.0,
        "half_width": 0.018,
        "variance_off_by": 2.0,
        "added_up_variance_off_by": 10.0,
        "sigma_of_1_over_w_off_by": 100.0,
        "tied_off_by": 1.0,
        "tied_from_1_at_least": 20.0,
        "tied_mean": 0.93,
        "widths": torch.tensor([10, 60]),
        "depths": torch.tensor([3, 12]),
        "variance_formula": torch.tensor([[0.21, 1.85], [0.03, 0.20]]),
    },
    "N14": {
        "cases": 6,
        "counted": 5,
        "entries": 125,
        "entries_that_differ": 0,
        "kernel_is_off_by": 1.0,
        "relu_entries_that_differ": 120,
        "smallest": 2,
        "largest": 27,
    },
    "N27": {
        "terms": 100,
        "survive": 20,
        "against_b5": 0,
        "largest_deviation": 1.0,
        "printed_21_is_off_by": 0.76,
        "second_moment_is_off_by": 0.9,
        "against_b2_as_printed": 12,
        "against_b2_as_corrected": 0,
        "against_b3_as_printed": 20,
        "against_b3_as_corrected": 0,
        "pairs_for_b3_as_corrected": 7,
        "same_layer_enumerated": 0.0576,
        "same_layer_printed": 0.0138,
        "follows": TABLE_3,
    },
    "D1": {
        "cases": 4,
        "features_double": 4,
        "least_reached": 9 / 5,
        "furthest_above": 1e-12,
        "with_biases_at_most": 1e-15,
    },
    "D3": {
        "networks": 3,
        "draws": 100,
        "largest_mean_of_two_paths": 0.0,
        "largest_deviation_of_one_path": 0.0,
        "single_draws_of_two_paths_reach_at_least": 0.3,
        "without_d_off_by_at_least": 0.5,
    },
    "D5": {
        "cells": 27,
        "own_off_by": 2.0,
        "cross_off_by": 2.0,
        "own_half_width": 0.014,
        "cross_half_width": 0.029,
        "spreads_off_by": 2.0,
        "power_d_off_by_at_least": 50.0,
        "added_up_spread_off_by": 10.0,
        "repeated_gates_off_by": 8.0,
    },
    "D7": {
        "cases": 10,
        "counted": 5,
        "above_the_bound": 0,
        "at_the_bound": 1,
        "deeper_than_two": 2,
        "above_with_power_d": 3,
    },
    "D20": {
        "paths": 24,
        "strengths": 8,
        "largest_bundle": 3,
        "networks": 7,
        "networks_miscounted": 0,
        "networks_where_d_counts_convolutions": 0,
    },
}

AGAINST: list[tuple[str, dict[str, Any]]] = [
    ("N2", {"largest_deviation": 2 * ALLOWED}),
    ("N2", {"networks_shut_for_every_input": 6}),
    ("N3", {"paths": 17}),
    ("N3", {"open_for_x1_and_x2": "p3"}),
    ("N3", {"order_is_off_by": 1e6}),
    ("N3", {"miscounted": 1}),
    ("N4", {"kernel_is_off_by": 1e4}),
    ("N4", {"paths_miscounted": 1}),
    ("N4", {"counted": 2}),
    ("N4", {"undivided_is_off_by_at_least": 10.0}),
    ("N5", {"largest_deviation": 1e5}),
    ("N5", {"wrong_where_paths_are_taken_apart": 0}),
    ("N7", {"above_the_bound": 1}),
    ("N7", {"regular": 1}),
    ("N7", {"above_with_the_mean_eigenvalue": 0}),
    ("N12", {"mean_off_by": 5.0}),
    ("N12", {"half_width": 0.03}),
    ("N12", {"variance_off_by": 5.0}),
    ("N12", {"added_up_variance_off_by": 1.0}),
    ("N12", {"sigma_of_1_over_w_off_by": 1.0}),
    ("N12", {"tied_off_by": 5.0}),
    ("N12", {"tied_from_1_at_least": 1.0}),
    ("N14", {"entries_that_differ": 1}),
    ("N14", {"relu_entries_that_differ": 0}),
    ("N27", {"against_b5": 1}),
    ("N27", {"against_b2_as_corrected": 1}),
    ("N27", {"against_b3_as_corrected": 1}),
    ("N27", {"against_b2_as_printed": 0}),
    ("N27", {"printed_21_is_off_by": 0.0}),
    ("N27", {"second_moment_is_off_by": 0.0}),
    ("N27", {"follows": TABLE_3 + torch.eye(4, dtype=torch.int64)}),
    ("N27", {"follows": TABLE_3 - torch.diag(torch.tensor([5, 0, 0, 0]))}),
    ("D1", {"features_double": 3}),
    ("D1", {"least_reached": 1.7}),
    ("D1", {"furthest_above": 0.1}),
    ("D1", {"with_biases_at_most": 0.1}),
    ("D3", {"largest_mean_of_two_paths": 0.01}),
    ("D3", {"largest_deviation_of_one_path": 0.01}),
    ("D3", {"single_draws_of_two_paths_reach_at_least": 0.0}),
    ("D3", {"without_d_off_by_at_least": 0.0}),
    ("D5", {"own_off_by": 5.0}),
    ("D5", {"cross_off_by": 5.0}),
    ("D5", {"own_half_width": 0.03}),
    ("D5", {"cross_half_width": 0.06}),
    ("D5", {"spreads_off_by": 5.0}),
    ("D5", {"power_d_off_by_at_least": 1.0}),
    ("D5", {"added_up_spread_off_by": 1.0}),
    ("D5", {"repeated_gates_off_by": 1.0}),
    ("D7", {"above_the_bound": 1}),
    ("D7", {"counted": 0}),
    ("D7", {"above_with_power_d": 0}),
    ("D20", {"paths": 12}),
    ("D20", {"networks_miscounted": 1}),
]


@pytest.mark.parametrize("id", GOOD)
def test_good_evidence_passes(id: str):
    claim = built_claims()[id]
    word = "reproduced as corrected" if claim.corrected else "reproduced"
    assert claim.judge("smoke", GOOD[id]).word == word


@pytest.mark.parametrize(("id", "found"), AGAINST)
def test_evidence_against_the_claim_does_not(id: str, found: dict[str, Any]):
    assert built_claims()[id].judge("smoke", GOOD[id] | found).word == "not reproduced"
