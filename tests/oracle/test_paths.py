"""The oracle against itself: N Propositions 2.1 and 3.1 and Lemma 2.1 hold for what it lists."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from networks.fully_connected import Skipping, fully_connected
from oracle import kernels, paths
from oracle.wiring import Wiring, wire_sequential

widths = st.lists(st.integers(1, 3), min_size=1, max_size=4)
seeds = st.integers(0, 2**31 - 1)


def inputs(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def small_convolutional(seed: int, *, circular: bool, pool: str, bias: bool) -> nn.Sequential:
    torch.manual_seed(seed)
    mode = "circular" if circular else "zeros"
    norm = nn.BatchNorm2d(2)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return (
        nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1, padding_mode=mode, bias=bias),
            norm,
            nn.ReLU(),
            nn.MaxPool2d(2) if pool == "max" else nn.AvgPool2d(2),
            nn.Flatten(0),
            nn.LeakyReLU(0.1),
            nn.Linear(8, 1, bias=bias),
        )
        .double()
        .eval()
    )


def test_figure_1_enumerates_18_paths_the_first_nine_from_the_first_input():
    net = fully_connected(2, 3, 3, 1)
    listed = paths.listed(wire_sequential(net, 2))
    assert [p.start for p in listed] == [0] * 9 + [1] * 9
    chain = paths.chain(list(net.parameters()), None, torch.ones(1, 2).double())
    assert chain.nodes[:4] == [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0), (0, 1, 0, 0)]
    assert chain.nodes[9] == (1, 0, 0, 0)
    assert torch.equal(chain.npv, paths.npv(listed))


def test_paths_open_for_both_inputs_through_one_unit_a_layer_give_lambda_1():
    """As in Figure 1: one opens units 1, 2 then 1, 3, the other 1, 3 then 2, 3; they share p3 and p12."""
    nodes = paths.chain(
        [torch.ones(3, 2).double(), torch.ones(3, 3).double(), torch.ones(1, 3).double()],
        None,
        inputs(0, 1, 2),
    ).nodes
    open_units = [({0, 1}, {0, 2}), ({0, 2}, {1, 2})]
    active = torch.tensor(
        [[float(a in first and b in second) for _, a, b, _ in nodes] for first, second in open_units]
    )
    assert paths.act(active, 0, 1) == {2, 11}
    assert paths.shared_per_input(active, 2)[0, 1] == 1


@given(widths, st.booleans(), seeds)
def test_the_walk_over_a_wiring_gives_what_the_plain_loops_give(sizes: list[int], bias: bool, seed: int):
    net = fully_connected(*sizes, 1, bias=bias, seed=seed)
    x = inputs(seed, 3, sizes[0])
    parameters = list(net.parameters())
    weights, biases = (parameters[::2], parameters[1::2]) if bias else (parameters, None)
    plain = paths.chain(weights, biases, x)
    wiring = wire_sequential(net, sizes[0])
    listed = paths.listed(wiring)
    assert torch.equal(plain.npv, paths.npv(listed))
    assert torch.equal(plain.npf, paths.npf(wiring, listed, x))
    assert torch.equal(plain.activity, paths.activity(wiring, listed, x))


@given(widths, st.booleans(), seeds)
def test_output_is_the_inner_product_and_ntk_is_phi_v_phi_in_fully_connected_nets(
    sizes: list[int], bias: bool, seed: int
):
    net = fully_connected(*sizes, 1, bias=bias, seed=seed)
    holds_propositions(net, wire_sequential(net, sizes[0]), inputs(seed, 3, sizes[0]))


@settings(max_examples=12)
@given(st.booleans(), st.sampled_from(["max", "average"]), st.booleans(), seeds)
def test_output_is_the_inner_product_and_ntk_is_phi_v_phi_with_convolution_pooling_and_batch_norm(
    circular: bool, pool: str, bias: bool, seed: int
):
    net = small_convolutional(seed, circular=circular, pool=pool, bias=bias)
    holds_propositions(
        lambda x: torch.stack([net(example[None]) for example in x]),
        wire_sequential(net, 1, 4, 4),
        inputs(seed, 2, 1, 4, 4),
        net,
    )


@given(st.integers(1, 3), st.integers(1, 2), st.sampled_from([1, 2]), st.booleans(), seeds)
def test_convolutions_are_laid_as_torch_lays_them(
    kernel: int, stride: int, groups: int, circular: bool, seed: int
):
    torch.manual_seed(seed)
    padding = min(1, kernel - 1)
    mode = "circular" if circular else "zeros"
    two = nn.Conv2d(2, 4, kernel, stride, padding, groups=groups, padding_mode=mode).double()
    one = nn.Conv1d(2, 4, kernel, stride, padding, groups=groups, padding_mode=mode).double()
    x = inputs(seed, 1, 2, 4, 4)
    torch.testing.assert_close(wire_sequential(nn.Sequential(two), 2, 4, 4)(x)[0], two(x).ravel())
    torch.testing.assert_close(
        wire_sequential(nn.Sequential(one), 2, 4)(x[..., 0])[0], one(x[..., 0]).ravel()
    )


@given(st.booleans(), seeds)
def test_skips_means_and_factors_are_paths_too(bias: bool, seed: int):
    torch.manual_seed(seed)
    net = Skipping(2, 2, 1, bias=bias).double()
    wiring = Wiring(2)
    h = wiring.relu(wiring.linear(wiring.inputs, net.first.weight, net.first.bias))
    h = wiring.relu(wiring.add(wiring.linear(h, net.middle.weight, net.middle.bias), h))
    wiring.outputs = wiring.linear(h, net.last.weight, net.last.bias)
    holds_propositions(net, wiring, inputs(seed, 3, 2))

    x = inputs(seed, 2, 2, 3)
    averaging = Wiring(2, 3)
    averaging.outputs = averaging.scale(averaging.mean(averaging.inputs), 0.5)
    torch.testing.assert_close(averaging(x), 0.5 * x.mean(2))
    torch.testing.assert_close(paths.npv(paths.listed(averaging)), torch.full((3,), 1 / 6).double())


def holds_propositions(model, wiring: Wiring, x: Tensor, module: nn.Module | None = None) -> None:
    """ŷ = ⟨φ, v⟩ (Proposition 2.1), K = ΦᵀVΦ (3.1), and ψ_x = ∇v φ_x (its proof)."""
    parameters = list(
        (module or model).parameters()
    )  # `model` wraps `module` where the module flattens the batch away
    listed = paths.listed(wiring)
    values, features = paths.values(listed), paths.npf(wiring, listed, x)
    torch.testing.assert_close(wiring(x), model(x).reshape(len(x), 1))
    torch.testing.assert_close(features @ paths.npv(listed), model(x).reshape(len(x)))
    tangent = kernels.jacobian(model, parameters, x)[:, 0]
    torch.testing.assert_close(features @ kernels.path_gradients(values, parameters), tangent)
    expected = features @ kernels.vtk(values, parameters) @ features.T
    torch.testing.assert_close(expected, tangent @ tangent.T)
    if module is None:
        torch.testing.assert_close(expected, kernels.ntk(model, x))


@given(widths, seeds)
def test_lemma_2_1_the_path_kernel_is_gram_times_lambda(sizes: list[int], seed: int):
    net = fully_connected(*sizes, 1, seed=seed)
    x = inputs(seed, 3, sizes[0])
    wiring = wire_sequential(net, sizes[0])
    listed = paths.listed(wiring)
    shared = paths.shared_per_input(paths.activity(wiring, listed, x), sizes[0])
    torch.testing.assert_close(kernels.npk(paths.npf(wiring, listed, x)), (x @ x.T) * shared)


def test_the_full_kernel_sums_to_the_trace_and_holds_every_output():
    net = fully_connected(2, 3, 2, seed=1)
    x, other = inputs(0, 3, 2), inputs(1, 4, 2)
    full = kernels.ntk(net, x, other, output="full")
    assert full.shape == (3, 4, 2, 2)
    torch.testing.assert_close(full[:, :, 0, 0] + full[:, :, 1, 1], kernels.ntk(net, x, other))
    torch.testing.assert_close(full[:, :, 1, 1], kernels.ntk(net, x, other, output=1))
    torch.testing.assert_close(full, kernels.ntk(net, other, x, output="full").permute(1, 0, 3, 2))
    left, right = (kernels.jacobian(net, list(net.parameters()), batch) for batch in (x, other))
    torch.testing.assert_close(full[1, 2, 0, 1], left[1, 0] @ right[2, 1])
