"""Whoever waits longer than a second is told why; whoever does not, hears nothing."""

import time

import pytest
import torch
from torch import Tensor, nn

from penstock.walk.announcement import announced
from penstock.walk.reading import read


def test_a_line_is_said_after_a_while_and_not_before(capsys: pytest.CaptureFixture[str]):
    with announced("reading Net", after=0.01):
        assert capsys.readouterr().err == ""
        time.sleep(0.2)
        assert capsys.readouterr().err == "reading Net\n"


def test_what_is_fast_says_nothing(capsys: pytest.CaptureFixture[str]):
    with announced("reading Net", after=0.2):
        pass
    with pytest.raises(KeyError), announced("reading Net", after=0.2):
        raise KeyError
    time.sleep(0.4)
    assert capsys.readouterr().err == ""


def test_a_slow_export_is_announced_by_the_models_class(capsys: pytest.CaptureFixture[str]):
    class Slow(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if torch.compiler.is_exporting():
                time.sleep(1.3)
            return x.relu()

    read(Slow(), torch.randn(3, 2))
    said = capsys.readouterr().err
    assert said.startswith("reading Slow")
    assert said.count("\n") == 1
