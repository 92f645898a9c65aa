"""torch's warnings and log lines are kept from the user, and from nobody else."""

import logging
import threading
import warnings

import pytest

from penstock.walk.quiet import without_torchs_logs, without_warnings


def test_warnings_are_kept_inside():
    with without_warnings():
        warnings.warn("of torch's own", FutureWarning, stacklevel=1)
    with pytest.warns(FutureWarning, match="mine"):
        warnings.warn("mine", FutureWarning, stacklevel=1)


def test_torchs_loggers_say_nothing_from_this_thread_and_go_on_in_others(capfd: pytest.CaptureFixture[str]):
    torchs = logging.getLogger("torch.fx.experimental.symbolic_shapes")
    with without_torchs_logs():
        torchs.warning("from here")
        other = threading.Thread(target=torchs.warning, args=["from elsewhere"])
        other.start()
        other.join()
    torchs.warning("afterwards")
    said = capfd.readouterr().err
    assert "from here" not in said
    assert "from elsewhere" in said
    assert "afterwards" in said
