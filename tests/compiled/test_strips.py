import threading

import pytest

from penstock.compiled.strips import in_strips


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("strips", [range(0, 0, 3), range(0, 2, 3), range(0, 20, 3)], ids=str)
def test_every_strip_is_worked_on_once(strips: range, threads: int):
    done, lock = [], threading.Lock()

    def work(start: int) -> None:
        with lock:
            done.append(start)

    in_strips(work, strips, threads)
    assert sorted(done) == list(strips)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_goes_wrong_in_a_strip_is_not_lost(threads: int):
    def work(start: int) -> None:
        if start == 4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_strips(work, range(0, 10, 2), threads)
