"""Gates from outside: whose row is whose, what they may be, and what is refused."""

import copy
import pickle
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from decoupled.cases import made, small_convolutions, two_layers
from networks import awkward
from oracle import decoupled as oracle
from penstock import PenstockError, capture, decouple
from penstock.decoupled.outside import FixedGates

X = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


def bits(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5


TWO = [bits(5, 6, seed=1), bits(5, 6, seed=2)]


@pytest.mark.parametrize("form", ["bits", "numbers"])
def test_a_list_goes_by_the_order_of_the_calls(form: str):
    model = two_layers().double()
    gates = TWO if form == "bits" else [torch.rand(5, 6, dtype=torch.float64) for _ in range(2)]
    pair = decouple(model, gates=gates)
    wanted = oracle.gated(model, X.double(), [each.double() for each in gates])
    torch.testing.assert_close(pair(X.double()), wanted, rtol=1e-12, atol=1e-14)


def test_bits_are_zeros_and_ones():
    model = two_layers()
    assert torch.equal(
        decouple(model, gates=TWO)(X), decouple(model, gates=[each.float() for each in TWO])(X)
    )


def test_a_dictionary_goes_by_the_names_of_the_calls():
    model = two_layers()
    by_name = decouple(model, gates={"3": TWO[1], "1": TWO[0]})
    assert torch.equal(by_name(X), decouple(model, gates=TWO)(X))


def test_numbers_for_a_leaky_layer_are_what_g_is():
    model = nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Linear(6, 2))
    pair = decouple(model, gates=[torch.full((5, 6), 0.5)])
    torch.testing.assert_close(pair(X), model[2](0.6 * model[0](X)))


SHOWN = ["small convolutions", "PReLU", "ReLU6", "GELU", "absolute value", "images", "pooling with indices"]


@pytest.mark.parametrize("name", [*SHOWN, "a transformer's layer", "a ReLU of weights"])
def test_a_record_of_the_model_gives_the_models_outputs(name: str):
    model, x = made(name)
    record = capture(model, x)
    pair = decouple(model, gates=record)
    torch.testing.assert_close(pair(x), model(x), rtol=1e-5, atol=1e-6)
    with pair.feature.rows(torch.tensor([2, 0])):  # pyright: ignore[reportCallIssue]
        torch.testing.assert_close(pair(x[[2, 0]]), model(x[[2, 0]]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [torch.tensor([3, 1]), slice(1, 3), [4, 4], bits(5), torch.tensor([-1])])
def test_rows_says_which_examples_are_there(rows: Any):
    pair = decouple(two_layers(), gates=TWO)
    every = pair(X)
    with pair.feature.rows(rows):  # pyright: ignore[reportCallIssue]
        torch.testing.assert_close(pair(X[rows]), every[rows])
    assert torch.equal(pair(X), every)


def test_gates_are_buffers_of_the_child_feature():
    pair = decouple(two_layers(), gates=TWO, train="value")
    assert [key for key in pair.state_dict() if key.startswith("feature")] == [
        "feature.layer0",
        "feature.layer1",
    ]
    assert list(pair.value.state_dict()) == list(two_layers().state_dict())
    TWO[0].logical_not_()  # a copy is kept
    before = pair(X)
    TWO[0].logical_not_()
    assert torch.equal(pair(X), before)
    other = decouple(two_layers(), gates=[bits(5, 6, seed=8), bits(5, 6, seed=9)])
    other.load_state_dict(pair.state_dict())
    for again in (other, copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert torch.equal(again(X), pair(X))


class Emitter(nn.Module):
    """Makes gates of its own for two layers of six units."""

    def __init__(self, form: str):
        super().__init__()
        self.layer, self.form = nn.Linear(4, 6), form

    def forward(self, x: Tensor) -> Any:
        one, two = torch.sigmoid(self.layer(x)), torch.sigmoid(-self.layer(x))
        forms = {
            "list": [one, two],
            "tuple": (one, two),
            "dictionary": {"3": two, "1": one},
            "too few": [one],
            "too many": [one, two, two],
            "nothing": None,
            "no tensors": {"1": 0.5, "3": 0.5},
            "other names": {"1": one, "5": two},
        }
        return forms[self.form]


@pytest.mark.parametrize("form", ["list", "tuple", "dictionary"])
@pytest.mark.parametrize("train", ["both", "feature", "value"])
def test_a_module_emits_gates_and_learns_through_them(form: str, train: Any):
    emitter, model = Emitter(form).double(), two_layers().double()
    pair = decouple(model, gates=emitter, train=train)
    assert pair.feature is emitter
    one = torch.sigmoid(emitter.layer(X.double()))
    wanted = oracle.gated(model, X.double(), [one, 1 - one])
    torch.testing.assert_close(pair(X.double()), wanted)
    pair(X.double()).sum().backward()
    assert (emitter.layer.weight.grad is not None) == (train != "value")
    assert (pair.value[0].weight.grad is not None) == (train != "feature")  # pyright: ignore[reportIndexIssue]


def test_a_tensor_alone_is_the_gates_of_one_layer():
    class One(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.new_ones(len(x), 6)

    model = awkward.Called(F.relu)
    torch.testing.assert_close(decouple(model, gates=One())(X), model.last(model.first(X)))


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("too few", "gates= has no gates for 3, which the model calls; there are gates for 0"),
        ("too many", "gates= has gates for 2, which the model does not call; it calls 1, 3"),
        ("nothing", "the module of gates= gives NoneType, and gates are one tensor for each gate layer"),
        ("no tensors", "the module of gates= gives dict"),
        ("other names", "gates= has no gates for 3, .* there are gates for 1, 5"),
    ],
)
def test_a_module_that_emits_other_things_is_refused(form: str, says: str):
    with pytest.raises(PenstockError, match=says):
        decouple(two_layers(), gates=Emitter(form))(X)


@pytest.mark.parametrize(
    ("gates", "says"),
    [
        ([], "gates= holds no layer at all"),
        ([bits(6), bits(6)], r"layer 0 must be a tensor with a row for each example, not \(6,\)"),
        ([bits(5, 6).numpy()] * 2, "layer 0 must be a tensor .* not ndarray"),
        ([bits(5, 6), bits(4, 6)], "gates= has 5 examples in layer 0 and 4 in layer 1"),
        ([bits(5, 6)], "gates= has no gates for 3, which the model calls; there are gates for 0"),
        ([bits(5, 6)] * 3, "gates= has gates for 2, which the model does not call; it calls 1, 3"),
        ({"1": bits(5, 6), "3": bits(5, 6), "5": bits(5, 6)}, "gates= has gates for 5, which the model does"),
        ({"1": bits(5, 6), "33": bits(5, 6)}, "gates= has no gates for 3"),
        (
            [bits(5, 7), bits(5, 6)],
            "the gates of 1 have shape 5×7 and the value network's signal there asks for",
        ),
        ([bits(5, 3), bits(5, 6)], "2 times as wide at 1 as its gates, and pad=1; give gates for every unit"),
        ([bits(5, 6, 1), bits(5, 6)], "the gates of 1 have shape 5×6×1"),
        (
            [bits(4, 6), bits(4, 6)],
            r"the gates were given for 4 examples and x has 5; .*feature.rows\(…\)",
        ),
        (
            [torch.ones(5, 6).long()] * 2,
            r"the gates of 1 are torch.int64; give bits \(torch.bool\) or",
        ),
        (
            [torch.ones(5, 6).double()] * 2,
            "the gates of 1 are torch.float64 and the signal there is torch.flo",
        ),
    ],
)
def test_wrong_gates_are_refused(gates: Any, says: str, as_a_user_runs_it: None):
    with pytest.raises(PenstockError, match=says):
        decouple(two_layers(), gates=gates)(X)


@pytest.mark.parametrize("rows", [torch.tensor([0, 5]), torch.tensor([0.5]), torch.tensor([True, False])])
def test_rows_that_are_not_there_are_refused(rows: Tensor):
    pair = decouple(two_layers(), gates=TWO)
    with (
        pytest.raises(PenstockError, match="the gates are for 5, numbered from 0 to 4"),
        pair.feature.rows(rows),  # pyright: ignore[reportCallIssue]
    ):
        pair(X[:2])


def test_another_number_of_rows_than_of_examples_is_refused():
    pair = decouple(two_layers(), gates=TWO)
    with (
        pytest.raises(PenstockError, match=r"the gates of 1 have shape 3×6 .* asks for 2×6"),
        pair.feature.rows(torch.tensor([0, 1, 2])),  # pyright: ignore[reportCallIssue]
    ):
        pair(X[:2])


def test_one_row_is_for_every_example():
    model = two_layers()
    alone = decouple(model, gates=[each[:1] for each in TWO])
    every = decouple(model, gates=[each[:1].expand(5, 6) for each in TWO])
    torch.testing.assert_close(alone(X), every(X))


class TestMaxPooling:
    model = small_convolutions()
    x = torch.randn(3, 1, 8, 8, generator=torch.Generator().manual_seed(0))

    def patterns(self) -> dict[str, Tensor]:
        return {name: layer.pattern() for name, layer in capture(self.model, self.x).items()}

    def test_a_choice_is_taken_from_a_record(self):
        assert torch.equal(decouple(self.model, gates=self.patterns())(self.x), self.model(self.x))

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (torch.Tensor.float, r"the gates of 3 \(max-pool 2×2\) are bits, and numbers were given"),
            (torch.zeros_like, r"the gates of 3 \(max-pool 2×2\) must choose one entry of every window"),
            (torch.ones_like, "must choose one entry of every window"),
        ],
    )
    def test_what_is_no_choice_is_refused(self, change: Any, says: str):
        gates = self.patterns()
        gates["3"] = change(gates["3"])
        with pytest.raises(PenstockError, match=says):
            decouple(self.model, gates=gates)(self.x)


def test_rows_that_are_not_those_of_the_calls_are_refused():
    """As many positions as examples, positions first: the gates' shape says nothing."""
    model = awkward.SequenceFirst()
    x = torch.randn(4, 4, 3)
    with pytest.raises(PenstockError, match="first dimension is not that of the examples"):
        decouple(model, gates=capture(model, x))(x)


def test_what_it_says_of_itself():
    assert repr(FixedGates(TWO)) == "FixedGates(5 examples, 2 layers)"
    assert repr(decouple(two_layers(), gates=TWO, train="value")).startswith(
        "GatedNetwork(\n  trained=value\n"
    )
