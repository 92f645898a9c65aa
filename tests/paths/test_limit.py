"""How much memory an answer may take."""

import pytest
import torch

from networks.fully_connected import fully_connected
from penstock import PenstockError, list_paths, npf, npv, vtk
from penstock.paths.limit import check_memory, memory_limit, set_memory_limit


@pytest.fixture(autouse=True)
def _restored():
    yield
    set_memory_limit(None)


def test_by_default_the_limit_is_a_part_of_the_machines_memory():
    assert 2**26 < memory_limit() < 2**45


@pytest.mark.parametrize(
    ("limit", "size"),
    [("16GiB", 2**34), ("1.5 MiB", 3 * 2**19), (1000, 1000), ("2GB", 2 * 10**9), ("512 B", 512)],
)
def test_the_limit_is_a_number_of_bytes_or_a_text(limit, size):
    set_memory_limit(limit)
    assert memory_limit() == size


@pytest.mark.parametrize("limit", ["much", "", "-1GiB", 0, -5, "GiB"])
def test_what_is_no_size_is_refused_and_changes_nothing(limit):
    set_memory_limit("3MiB")
    with pytest.raises(PenstockError, match="is no size; give bytes, or a number with a unit"):
        set_memory_limit(limit)
    assert memory_limit() == 3 * 2**20


@pytest.mark.parametrize(
    ("question", "what"),
    [
        (list_paths, "a list of their nodes takes"),
        (npv, "one value for each takes"),
        (vtk, "a number for each pair of them takes"),
        (
            lambda model: npf(model, torch.randn(4, 30, dtype=torch.float64)),
            "one feature for each and each of 4 examples takes",
        ),
    ],
    ids=["list_paths", "npv", "vtk", "npf"],
)
def test_every_answer_with_a_number_a_path_has_a_limit(question, what):
    set_memory_limit("100KiB")
    with pytest.raises(
        PenstockError, match=rf"27,000 paths lead to this output, and {what} .* above the limit of 100 KiB"
    ):
        question(fully_connected(30, 30, 30, 1))


def test_a_kernel_of_all_pairs_is_refused_where_a_list_is_not():
    set_memory_limit("1MiB")
    model = fully_connected(10, 10, 10, 1)
    assert len(list_paths(model)) == len(npv(model)) == 1000
    with pytest.raises(PenstockError, match=r"7\.63 MiB"):
        vtk(model)


@pytest.mark.parametrize(
    ("paths", "said"),
    [(1_234_567, "1,234,567 paths"), (12 * 10**40, "1.2·10^41 paths"), (3 * 10**400, r"3.0·10^400 paths")],
)
def test_numbers_that_cannot_be_read_are_powers_of_ten(paths, said):
    with pytest.raises(PenstockError) as refused:
        check_memory(paths, "a list of them", paths * 10**6)
    assert str(refused.value).startswith(said)
