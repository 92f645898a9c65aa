"""What the watch cannot see is refused, by name and place, with the way out."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from networks.awkward import (
    Called,
    Checkpointed,
)
from networks.hidden import (
    AffineCustomFunction,
    CustomFunction,
    Scripted,
    ScriptedFunction,
)
from penstock import PenstockError, adapt, capture

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")


def relu(q: Tensor) -> Tensor:
    return torch.relu(q)


def relu_in_place(q: Tensor) -> Tensor:
    return (q + 0).relu_()


def leaky_relu(q: Tensor) -> Tensor:
    return F.leaky_relu(q, 0.1)


def prelu(q: Tensor) -> Tensor:
    return torch.prelu(q, torch.full((1,), 0.1))


def hardtanh(q: Tensor) -> Tensor:
    return F.hardtanh(q)


def relu6(q: Tensor) -> Tensor:
    return F.relu6(q)


def magnitude(q: Tensor) -> Tensor:
    return torch.abs(q)


def clamp(q: Tensor) -> Tensor:
    return torch.clamp(q, min=0.0)


def clamp_min(q: Tensor) -> Tensor:
    return torch.clamp_min(q, 0.0)


def silu(q: Tensor) -> Tensor:
    return F.silu(q)


def gelu(q: Tensor) -> Tensor:
    return F.gelu(q)


def pooled(q: Tensor) -> Tensor:
    return F.max_pool1d(q.unsqueeze(1), 1).squeeze(1)


def softplus(q: Tensor) -> Tensor:
    return F.softplus(q)


def doubled(q: Tensor) -> Tensor:
    return q * 2 + torch.clamp(q, -1.0, 1.0) + torch.clamp(q, max=0.0)


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(7, 4)


def refused(model, x, sentence):
    with pytest.raises(PenstockError, match=sentence) as caught:
        capture(model, x)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("traced", [False, True])
def test_scripted_and_traced_children_are_refused_by_name(traced, x):
    refused(
        Scripted(traced),
        x,
        r"the layer child \(.*\) is scripted or traced, .* give the module it was made from",
    )


def test_a_model_scripted_as_a_whole_is_refused(x):
    model = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    refused(model, x, r"the model \(RecursiveScriptModule\) is scripted")
    refused(
        adapt(model, lambda model, batch: model(batch)), x, r"the model \(RecursiveScriptModule\) is scripted"
    )


@pytest.mark.parametrize(
    "function",
    [
        relu,
        relu_in_place,
        leaky_relu,
        prelu,
        hardtanh,
        relu6,
        magnitude,
        clamp,
        clamp_min,
        silu,
        gelu,
        pooled,
    ],
    ids=lambda function: function.__name__,
)
def test_a_gate_in_a_scripted_function_is_refused_with_its_place(function, x):
    model = nn.Sequential(ScriptedFunction(function))
    for _ in range(3):  # the script is optimized as it runs
        refused(
            model,
            x,
            r"the operation \w+ \(in 0, line \d+ of hidden.py\) is a gate that runs where",
        )


@pytest.mark.parametrize("function", [softplus, doubled])
def test_a_scripted_function_without_gates_is_none_of_our_business(function, x):
    assert capture(ScriptedFunction(function), x).names == ("first.1",)


def test_a_refusal_gets_out_of_a_model_that_catches_everything(x):
    class Cautious(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = ScriptedFunction(relu)
            self.other = nn.Sequential(nn.Linear(4, 2), nn.ReLU())

        def forward(self, x):
            try:
                return self.inner(x)
            except Exception:
                return self.other(x)

    refused(Cautious(), x, r"the operation relu \(in inner")


def test_recurrent_layers_that_hide_relus_are_refused_and_others_not(x):
    steps = x.reshape(7, 2, 2)

    def last(model, batch):
        return torch.relu(model(batch)[0][:, -1])

    hidden = nn.RNN(2, 3, nonlinearity="relu", batch_first=True)
    refused(adapt(hidden, last), steps, r"the model \(RNN\) hides the ReLUs of its steps")
    cell = Called(nn.RNNCell(6, 6, nonlinearity="relu"))
    refused(cell, x, r"the layer function \(RNNCell\) hides the ReLUs of its steps")
    for seen in (
        nn.RNN(2, 3, batch_first=True),
        nn.LSTM(2, 3, batch_first=True),
        nn.GRU(2, 3, batch_first=True),
    ):
        assert capture(adapt(seen, last), steps).names == ("relu",)


def test_a_recurrent_relu_called_as_a_function_is_refused_too(x):
    cell = nn.RNNCell(6, 6, nonlinearity="relu")
    weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    model = Called(lambda q: torch.rnn_relu_cell(q, torch.zeros_like(q), *weights))
    refused(
        model,
        x,
        r"the operation relu of rnn_relu_cell \(line \d+ of test_unseen.py\) is a gate that runs where",
    )


def test_data_parallel_is_refused(x):
    inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    refused(
        nn.DataParallel(inner),
        x,
        r"the model \(DataParallel\) runs in threads .* give the module inside it, model.module",
    )
    refused(
        nn.Sequential(nn.DataParallel(inner)), x, r"the layer 0 \(DataParallel\) runs in threads .*, 0.module"
    )


def test_custom_autograd_functions_are_refused_by_name_and_place(x):
    refused(CustomFunction(), x, r"_Rectify \(line \d+ of hidden.py\) is a custom autograd Function")
    refused(
        nn.Sequential(AffineCustomFunction()),
        x,
        r"_Reverse \(in 0, line \d+ of hidden.py\) is a custom autograd",
    )


class OutsideTorch(torch.autograd.Function):
    """A kernel of the user's own, which torch sees nothing of but the arrays it takes and gives."""

    @staticmethod
    def forward(ctx, q):
        return torch.from_numpy(q.numpy() * (q.numpy() > 0))

    @staticmethod
    def backward(ctx, *gradients):
        return gradients[0]


class WithSetup(torch.autograd.Function):
    @staticmethod
    def forward(q):
        return q * (q > 0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *gradients):
        return gradients[0]


@pytest.mark.parametrize("function", [OutsideTorch, WithSetup])
def test_custom_functions_of_every_make_are_refused(function, x):
    refused(
        Called(lambda q: function.apply(torch.relu(q))),
        x,
        f"{function.__name__} .* is a custom autograd Function",
    )


def test_a_custom_function_around_a_watched_call_is_refused(x):
    class Around(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            return torch.relu(q)

        @staticmethod
        def backward(ctx, *gradients):
            return gradients[0]

    refused(Called(Around.apply), x, "Around .* is a custom autograd Function")


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")
def test_torchs_own_functions_are_not_custom(x):
    assert capture(Checkpointed(reentrant=True), x).names == ("middle.0", "middle.2")


def test_a_capture_inside_a_custom_function_is_the_users_own_affair(x):
    found = []

    class Around(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            found.append(capture(Called(torch.relu), q).names)
            return q

    Around.apply(x)
    assert found == [("relu",)]


def test_a_gate_inside_another_function_of_torchs_is_refused_where_it_is_a_relu(x):
    model = Called(lambda q: F.lp_pool1d(q[:, None], 2, 1)[:, 0])
    refused(
        model, x, r"the operation relu of lp_pool1d \(line \d+ of test_unseen.py\) is a gate that runs where"
    )


@pytest.mark.parametrize(
    "function", [F.softsign, F.hardswish, F.normalize, F.elu, F.mish, F.hardsigmoid, F.logsigmoid]
)
def test_functions_that_are_no_gates_stay_as_they_are(function, x):
    assert capture(Called(lambda q: function(torch.relu(q))), x).names == ("relu",)


def test_fractional_max_pooling_is_refused(x):
    model = Called(
        lambda q: F.fractional_max_pool2d(q.reshape(-1, 1, 2, 3), 1, output_size=(2, 3)).flatten(1)
    )
    refused(model, x, "fractional_max_pool2d")


def test_an_operator_of_the_users_that_is_called_a_relu_is_refused(x):
    @torch.library.custom_op("penstock_tests::fused_relu", mutates_args=())
    def fused_relu(q: Tensor) -> Tensor:
        return q * (q > 0)

    refused(
        Called(fused_relu), x, "the operation fused_relu .* is a gate that runs where it cannot be watched"
    )


def test_structured_control_flow_is_refused(x):
    model = Called(lambda q: torch.cond(q.sum() > 0, torch.relu, torch.neg, (q,)))
    refused(
        model, x, r"the call of cond \(line \d+ of test_unseen.py\) holds a piece of program as one operation"
    )


def test_calls_inside_vmap_are_refused(x):
    model = Called(lambda q: torch.vmap(torch.relu)(q))
    refused(model, x, r"the call relu \(line \d+ of test_unseen.py\) is made inside torch.func")


@pytest.mark.parametrize("draw", [F.dropout, torch.randn_like, lambda q: torch.bernoulli(q.sigmoid())])
def test_what_draws_at_random_on_the_signal_is_refused(draw, x):
    refused(
        Called(lambda q: draw(torch.relu(q))), x, "draws at random, so that gates would be those of one draw"
    )


def test_attention_and_dropout_that_are_off_are_not_random(x):
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    assert capture(layer.eval(), x.reshape(7, 1, 4)).names == ("relu",)
    assert capture(Called(lambda q: F.dropout(torch.relu(q), 0.5, training=False)), x).names == ("relu",)


@pytest.mark.parametrize("function", [relu, gelu])
def test_fused_transformers_are_seen(function, x):
    layer = nn.TransformerEncoderLayer(4, 2, 8, activation=function.__name__, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    record = capture(model, x.reshape(7, 1, 4))
    assert record.names == (f"layers.0.{function.__name__}", f"layers.1.{function.__name__}")
