import jaxtyping
import pytest


@pytest.fixture
def as_a_user_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check of types that runs with the tests: the code's own words for a wrong argument."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
