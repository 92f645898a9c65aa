"""What torch.export says at length, in one sentence."""

import pytest
import torch
from torch import Tensor
from torch.export import export

from networks.exported import Inline
from penstock.errors import PenstockError
from penstock.walk.reading import read
from penstock.walk.refusal import in_one_sentence, what_it_says


@torch.library.custom_op("penstock_tests::unexplained", mutates_args=())
def unexplained(x: Tensor) -> Tensor:
    return x.relu()


def test_of_a_long_message_the_first_line_is_told_with_its_type():
    assert what_it_says(ValueError("too long.\n\nFor more information, see …")) == "ValueError: too long"
    assert what_it_says(KeyError()) == "KeyError"


def test_an_operator_of_ones_own_needs_to_say_what_it_makes():
    with pytest.raises(
        PenstockError,
        match=r"the model \(Inline\), line \d+ of test_refusal.py calls an operator.*register_fake",
    ):
        read(Inline(lambda m, x: unexplained(m.lin(x))), torch.randn(3, 4))


def test_what_nobody_foresaw_is_told_in_torchs_words_with_its_place():
    def forward(m: Inline, x: Tensor) -> Tensor:
        return torch.add(x, m.lin(x), out=torch.empty_like(x))

    with pytest.raises(PenstockError, match=r"line \d+ of test_refusal.py does something.*RuntimeError: add"):
        read(Inline(forward), torch.randn(3, 4))


def test_a_program_that_was_exported_for_one_batch_serves_no_other():
    program = export(torch.nn.Linear(4, 2), (torch.randn(3, 4),)).module()
    with pytest.raises(PenstockError, match="Guard failed"):
        read(program, torch.randn(3, 4))


def test_an_error_without_a_place_names_the_model():
    sentence = str(in_one_sentence(Inline(lambda m, x: x), torch.randn(3, 4), RuntimeError("odd\nvery")))
    assert sentence.startswith(
        "the model (Inline) does something that torch.export cannot record (RuntimeError: odd)"
    )
