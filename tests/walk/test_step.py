"""A step knows its operation, its arguments, its shape and its place, and runs on whatever is put in."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from networks.exported import kept
from penstock.walk.reading import read
from penstock.walk.step import Extent, Ref, Step, leaves, map_leaves, references


def steps(name: str) -> tuple[Step, ...]:
    model, shape = kept(name)
    return read(model, torch.randn(3, *shape, dtype=torch.float64)).steps


def test_a_shape_is_one_examples():
    convolution, *_, pool, _ = steps("max-pooling")
    assert convolution.shape == (3, 6, 6)
    assert pool.shape == (3, 4, 4)
    assert pool.batch_first
    assert pool.shape_at(7) == (7, 3, 4, 4)


def test_rows_that_share_a_dimension_with_positions_are_an_extent():
    merged, linear, split = steps("batch and positions as one")
    assert str(merged.sizes[0]) == "3*batch"
    assert not merged.batch_first
    assert merged.shape == linear.shape == (3, 4)
    assert split.batch_first
    assert split.shape == (3, 4)
    assert references(split.args) == [Ref(linear.name)]


def test_every_argument_has_its_name():
    convolution = next(step for step in steps("convolution, depthwise, dilated"))
    assert convolution.operation == "conv2d"
    assert convolution.arguments["stride"] == [1, 1]
    assert convolution.arguments["dilation"] == [2, 2]
    assert convolution.arguments["groups"] == 4
    assert convolution.arguments["input"] == Ref("x")
    assert convolution.held == ("p_weight", "p_bias")
    assert convolution.signals == ("x",)


def test_a_step_runs_on_anything_put_in_place_of_its_inputs():
    merged, _, _ = steps("batch and positions as one")
    numbers = torch.arange(12).view(1, 3, 4)
    assert torch.equal(merged.call({"x": numbers}, batch=1), numbers.view(3, 4))


def test_results_are_told_apart_by_their_position():
    apart = [step for step in steps("taken apart") if step.operation.startswith("split")]
    x = torch.arange(8.0, dtype=torch.float64).view(2, 4)
    for step in apart:
        assert step.item in (0, 1)
        assert step.name == (step.origin if step.item == 0 else f"{step.origin}:1")
        whole = step.call_whole({step.signals[0]: x}, batch=2)
        assert torch.equal(step.call({step.signals[0]: x}, batch=2), whole[step.item])


@given(st.integers(1, 50))
def test_an_extent_is_what_torch_would_compute(batch: int):
    merged, *_ = steps("batch and positions as one")
    extent = merged.sizes[0]
    assert isinstance(extent, Extent)
    assert extent.at(batch) == 3 * batch
    assert not extent.is_unknown


def test_leaves_of_an_argument_are_in_order():
    argument = ([1, (Ref("a"), None)], {"dim": [Ref("b", number=True)]})
    assert list(leaves(argument)) == [1, Ref("a"), None, Ref("b", number=True)]
    assert references(argument) == [Ref("a"), Ref("b", number=True)]
    assert map_leaves(lambda leaf: leaf == 1, [1, (2, [1])]) == [True, [False, [True]]]


def test_a_number_is_taken_out_of_a_held_tensor_when_it_is_wanted():
    *_, scaled = steps("a number out of a parameter")
    ref = next(ref for ref in references(scaled.args) if ref.number)
    x = torch.ones(1, 4, dtype=torch.float64)
    result = scaled.call({scaled.signals[0]: x, ref.name: torch.tensor(3.0)}, batch=1)
    assert torch.equal(result, 3 * x)


def test_steps_read_held_values_and_signals():
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shift = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return torch.cat([x + self.shift, x], 1) + torch.cat([x, x], 1)

    graph = read(Both(), torch.randn(3, 2))
    assert [step.held for step in graph.steps] == [("p_shift",), (), (), ()]
    assert graph.steps[1].signals == (graph.steps[0].name, "x")
    assert graph.steps[2].signals == ("x",)
