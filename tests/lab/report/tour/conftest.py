"""The tour, computed once for all of its tests."""

from pathlib import Path

import pytest

from lab.report.tour.small import SMALL
from penstock.lab.report.tour.guide import Guide, write_tour
from penstock.lab.report.tour.opened import Opened, open_network
from penstock.lab.report.tour.regimes.training import Regimes, train_regimes
from penstock.lab.report.tour.training import Training, train


@pytest.fixture(scope="session")
def opened() -> Opened:
    return open_network()


@pytest.fixture(scope="session")
def training() -> Training:
    return train()


@pytest.fixture(scope="session")
def regimes() -> Regimes:
    return train_regimes(SMALL)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The page, and what was said while it was written."""
    said: list[str] = []
    page = write_tour(tmp_path_factory.mktemp("tour") / "demo", Guide(said.append), SMALL)
    return page, said
