"""A graph holds what a module computes, and nothing else: no copies, no dropout at rest, no in-place work."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from networks.exported import READABLE, Inline, kept
from networks.residual import ResNet18
from penstock.walk.graph import Graph
from penstock.walk.reading import read


def graph_of(model: nn.Module, *shape: int) -> Graph:
    return read(model.eval(), torch.randn(3, *shape))


def operations(graph: Graph) -> list[str]:
    return [step.operation for step in graph.steps]


def known(name: str) -> Graph:
    model, shape = kept(name)
    return read(model, torch.randn(3, *shape, dtype=torch.float64))


def test_dropout_at_rest_is_no_step():
    assert operations(known("dropout at rest")) == ["linear"]


@pytest.mark.parametrize(
    "copy",
    [
        lambda h: h.clone(),
        lambda h: h.contiguous(),
        lambda h: h.to(torch.float32),
        lambda h: h.float(),
        lambda h: h[:],
        lambda h: h[:, :],
        lambda h: h.view(h.shape),
        lambda h: h.reshape(h.shape[0], 4),
        lambda h: h.expand(-1, 4),
        lambda h: torch.empty_like(h).copy_(h),
    ],
)
def test_a_copy_is_no_step(copy):
    assert operations(graph_of(Inline(lambda m, x: copy(m.lin(x))), 4)) == ["linear"]


def test_a_conversion_is_a_step_and_so_is_a_detachment():
    assert operations(graph_of(Inline(lambda m, x: m.lin(x).double()), 4)) == ["linear", "_to_copy"]
    assert operations(graph_of(Inline(lambda m, x: m.lin(x).detach()), 4)) == ["linear", "detach"]


def test_random_slopes_are_their_mean_at_rest():
    graph = graph_of(nn.RReLU(0.2, 0.4), 4)
    assert operations(graph) == ["leaky_relu"]
    assert graph.steps[0].arguments["negative_slope"] == pytest.approx(0.3)


def test_every_view_is_a_reshape():
    model = Inline(lambda m, x: m.lin(x).view(-1, 2, 2).flatten(1).unflatten(1, (4, 1)))
    assert operations(graph_of(model, 4)) == ["linear", "reshape", "reshape", "reshape"]


def test_in_place_work_is_undone():
    def forward(m: Inline, x: Tensor) -> Tensor:
        h = m.lin(x)
        F.relu(h, inplace=True)
        h += x
        return h.mul_(2)

    assert operations(graph_of(Inline(forward), 4)) == ["linear", "relu", "add", "mul"]


def test_a_tensor_that_is_made_from_a_shape_is_held():
    graph = known("made from shapes")
    assert operations(graph) == ["linear", "cat"]
    assert len(graph.steps[-1].held) == 4


def test_what_is_overwritten_is_not_read():
    def forward(m: Inline, x: Tensor) -> Tensor:
        h = m.lin(x).clone()
        h[:, 0] = 0
        return h

    graph = graph_of(Inline(forward), 4)
    assert operations(graph) == ["linear", "select_scatter"]
    assert graph.steps[-1].signals == (graph.steps[0].name,)


def test_a_normalization_is_one_step():
    graph = known("batch norm")
    assert operations(graph) == ["conv2d", "_native_batch_norm_legit_no_training", "relu", "reshape"]
    assert graph.steps[1].item == 0


def test_computed_weights_are_recipes():
    for name in ("weight norm", "spectral norm", "orthogonal", "pruned"):
        graph = known(name)
        assert set(operations(graph)) <= {"linear", "relu"}
        assert graph.recipes


def test_hooks_are_steps_at_their_layer():
    graph = known("hooks")
    assert operations(graph) == ["linear", "mul", "add", "relu", "sub"]
    assert [step.place.module for step in graph.steps] == ["0", "0", "1", "1", ""]


def test_what_stands_under_no_grad_is_detached_and_keeps_its_place():
    graph = known("without gradient")
    first = graph.steps[0]
    assert first.operation == "linear"
    assert first.place.module == "lin"
    assert "exported.py" in first.place.source
    assert operations(graph)[:3] == ["linear", "sigmoid", "detach"]


def test_what_stands_under_autocast_keeps_its_place():
    graph = graph_of(READABLE["bfloat16 inside"][0](), 4)
    linear = next(step for step in graph.steps if step.operation == "linear")
    assert linear.dtype == torch.bfloat16
    assert linear.place.module == "lin"


def test_names_of_parameters_tell_whose_they_are():
    graph = graph_of(ResNet18(width=4), 3, 8, 8)
    assert graph.input == "x"
    assert graph.parameters["p_layers_0_0_conv1_weight"] == "layers.0.0.conv1.weight"
