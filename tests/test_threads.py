"""Work in threads: everything is as in a loop, but for the time that it takes."""

import _thread
import contextlib
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from dqeval.support import on_demand, threads
from dqeval.support.on_demand import cached_property, once
from dqeval.support.threads import in_order, worker_count


def slowest_first(item):
    time.sleep(0.002 * (5 - item) if item < 5 else 0)
    return item, threading.get_ident()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_order(workers):
    found = list(in_order(slowest_first, range(20), workers))
    assert [item for item, _ in found] == list(range(20))
    assert (threading.get_ident() in {thread for _, thread in found}) == (workers == 1)
    assert len({thread for _, thread in found}) <= workers


@pytest.mark.parametrize("items", [[], [3]])
def test_nothing_and_one_need_no_thread(items):
    here = threading.get_ident()
    assert list(in_order(slowest_first, items, 4)) == [(item, here) for item in items]


def test_items_are_taken_when_their_turn_comes():
    taken = []

    def source():
        for item in range(100):
            taken.append((item, threading.get_ident()))
            yield item

    results = in_order(abs, source(), 2)
    assert taken == []
    next(results)
    assert len(taken) <= 6
    results.close()
    assert {thread for _, thread in taken} == {threading.get_ident()}


def failing(item):
    if item == 3:
        raise ValueError("three")
    return item


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_comes_in_its_turn(workers):
    found = []
    for item in (results := in_order(failing, range(50), workers)):
        found.append(item)
        if item == 2:
            break
    assert found == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)
    assert list(results) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_of_the_source_comes_in_its_turn(workers):
    def source():
        yield from range(3)
        raise OSError("no more")

    found = []
    with pytest.raises(OSError, match="no more"):
        found.extend(in_order(abs, source(), workers))
    assert found == [0, 1, 2]


def test_some_take_their_time():
    assert list(in_order(lambda seconds: time.sleep(seconds) or seconds, [0.3, 0, 0], 2)) == [0.3, 0, 0]


def test_what_has_not_begun_is_not_done_any_more():
    begun, go_on = [], threading.Event()

    def work(item):
        begun.append(item)
        return item == 0 or go_on.wait(10)

    results = in_order(work, range(9), 2)
    next(results)
    while len(begun) < 3:
        time.sleep(0.001)
    timer = threading.Timer(0.05, go_on.set)
    timer.start()
    results.close()
    timer.join()
    assert sorted(begun) == [0, 1, 2]  # the last two by two threads, in any order


def test_no_thread_is_left_behind():
    before = threading.active_count()
    with pytest.raises(ValueError, match="three"):
        list(in_order(failing, range(50), 3))
    results = in_order(slowest_first, range(50), 3)
    next(results)
    results.close()
    list(in_order(slowest_first, range(7), 3))
    assert threading.active_count() == before


def test_ctrl_c_does_not_wait():
    leave = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in programs that run in the background

    def work(item):
        if item == 0:  # once the threads are at work, however slow the machine is
            _thread.interrupt_main()
        leave.wait(30)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(in_order(work, range(4), 2))
    assert time.monotonic() - began < 20
    leave.set()
    signal.signal(signal.SIGINT, before)


def warning(item):
    time.sleep(0.001 * (9 - item))
    warnings.warn(f"about {item}", stacklevel=1)
    return item


def test_warnings_come_in_order():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        seen = []
        for item in in_order(warning, range(9), 3):
            seen.append(len(told))
            warnings.warn(f"of the caller {item}", stacklevel=1)
    words = [str(each.message) for each in told]
    assert words == [text for item in range(9) for text in (f"about {item}", f"of the caller {item}")]
    assert seen == list(range(1, 18, 2))
    assert {each.filename for each in told} == {__file__}


def test_warnings_may_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="about 0"):
            list(in_order(warning, range(9), 3))


def test_warnings_of_threads_within_threads_come_in_order():
    def tell(item):
        warnings.warn(str(item), stacklevel=1)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        shown = warnings.showwarning
        list(in_order(lambda ten: list(in_order(tell, range(ten, ten + 5), 2)), range(0, 50, 10), 3))
        assert warnings.showwarning is shown
    assert [int(str(each.message)) for each in told] == [10 * i + j for i in range(5) for j in range(5)]


def test_calls_from_several_threads_leave_nothing_behind():
    shown = warnings.showwarning

    def call():
        for _ in range(20):
            assert list(in_order(abs, range(8), 2)) == list(range(8))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert warnings.showwarning is shown


def test_threads_compute_as_their_caller_asked():
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        list(in_order(lambda x: np.float64(x) * 2, [1e308] * 4, 2))


def test_how_many_threads(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 7}, raising=False)
    assert worker_count(None) == 3
    assert worker_count(5) == 5
    assert worker_count(5, points=threads.LEAST_POINTS) == 5
    assert worker_count(None, points=threads.LEAST_POINTS - 1) == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert worker_count(None) == 1
    for wrong in (0, -1, 1.5, "two", True, 10**6):
        with pytest.raises(ValueError, match="workers must be"):
            worker_count(wrong)


def test_a_cached_property_blocks_no_other_object():
    first, second = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def made(self):
            """Said of it."""
            mine, other = (first, second) if self is one else (second, first)
            mine.set()
            return other.wait(10)

    one, two = Slow(), Slow()
    assert list(in_order(lambda slow: slow.made, [one, two], 2)) == [True, True]
    assert one.made
    assert Slow.made.__doc__ == "Said of it."


def test_a_cached_property_is_made_once_for_all_threads():
    made = []

    class Slow:
        @cached_property
        def made(self):
            made.append(threading.get_ident())
            time.sleep(0.02)
            return made

    one = Slow()
    assert all(found is made for found in in_order(lambda _: one.made, range(8), 8))
    assert len(made) == 1


@pytest.mark.parametrize("sharing", [False, True])
def test_what_could_not_be_made_is_tried_again(sharing):
    kept, tried = {}, []

    def make():
        tried.append(len(tried))
        if len(tried) == 1:
            raise OSError("not yet")
        return len(tried)

    with on_demand.shared_by_threads() if sharing else contextlib.nullcontext():
        with pytest.raises(OSError, match="not yet"):
            once(kept, "it", make)
        assert once(kept, "it", make) == once(kept, "it", make) == 2
    assert not on_demand._being_made
