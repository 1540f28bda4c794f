"""The table of how times grow, on tiny series."""

import math

import pytest

import dqeval
from benchmarks import growth
from dqeval.detectors.transform import largest_prime_factor

LENGTHS = growth.LENGTHS


def row_of(time_of, lengths=LENGTHS):
    return growth.Row("explain", "5 events", tuple(lengths), tuple(map(time_of, lengths)))


def test_a_row_has_the_power_with_which_time_grew():
    row = growth.Row("explain", "5 events", (10_000, 40_000), (0.01, 0.16))
    assert (row.exponent, row.last) == pytest.approx((2, 2))
    assert str(row) == "| explain | 5 events | 40,000 | 0.16 | 2.00 | 2.00 |"


def test_lengths_have_small_prime_factors():
    assert LENGTHS == (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
    assert max(map(largest_prime_factor, LENGTHS)) == 5
    assert all(
        0 <= size - growth.PRIMES[size] < 50 and largest_prime_factor(growth.PRIMES[size]) > 900 for size in LENGTHS
    )


@pytest.mark.parametrize("lengths", [(1_000,), (1_000, 3_000), (1_000, 3_000, 10_000)])
def test_a_row_of_few_lengths_has_no_power(lengths):
    assert math.isnan(row_of(float, lengths).exponent)
    assert math.isnan(row_of(float, lengths[:1]).last)


@pytest.mark.parametrize("constant", [0.0, 1e-3])
def test_powers_of_known_functions(constant):
    """What a call takes whatever the series is does not hide how the rest grows."""
    assert row_of(lambda n: constant + 1e-8 * n).exponent == pytest.approx(1, abs=1e-3)
    assert 1.05 < row_of(lambda n: constant + 1e-9 * n * math.log(n)).exponent < 1.12
    assert row_of(lambda n: constant + 1e-11 * n**2, LENGTHS[:7]).exponent == pytest.approx(2, abs=0.1)
    assert row_of(lambda n: constant + 1e-9 * n**1.5).exponent == pytest.approx(1.5, abs=0.05)


def test_a_cliff_shows():
    cliff = row_of(lambda n: 1e-3 + 1e-8 * n + max(n - 1e6, 0) ** 2 * 1e-13)
    assert cliff.exponent > growth.MOST_EXPONENT
    assert cliff.last > 1.5


def test_a_time_that_does_not_grow_has_the_power_0():
    assert row_of(lambda n: 1e-3).exponent == pytest.approx(0, abs=1e-9)


def test_a_row_without_its_longest_series():
    row = growth.Row("explain", "5 events", (1_000, 3_000, 10_000), (0.01, 0.03, 0.1))
    assert row.up_to(9_999) == growth.Row("explain", "5 events", (1_000, 3_000), (0.01, 0.03))
    assert row.up_to(10_000) == row


def inputs_of(kind, most):
    found = [growth.KINDS[kind](size) for size in LENGTHS if size <= most]
    for each in found:
        each.prepare()
    return found


def test_a_row_ends_where_a_call_takes_long():
    calls, inputs = [], inputs_of("random walk", 10_000)

    def call(given):
        calls.append(len(given.y_true))

    row = growth.measured("np.sort", "random walk", call, inputs)
    assert (row.function, row.kind, row.points) == ("np.sort", "random walk", (1_000, 3_000, 10_000))
    assert calls == [1_000] * 101 + [3_000] * 100 + [10_000] * 100  # one more of the shortest, for imports
    assert growth.measured("np.sort", "random walk", call, inputs, longest=0.0).points == (1_000,)


@pytest.mark.parametrize(
    ("each", "expected"), [(1e-5, 100), (0.01, 6), (0.025, 3), (0.3, 3), (2.5, 3), (4.0, 2), (7.0, 1)]
)
def test_calls_that_take_long_are_not_repeated(monkeypatch, each, expected):
    clock = [0.0]
    calls = []

    def call():
        calls.append(1)
        clock[0] += each

    monkeypatch.setattr(growth.time, "process_time", lambda: clock[0])
    assert growth.processor_seconds(call) == pytest.approx(each)
    assert len(calls) == expected


@pytest.mark.parametrize("function", growth.functions() | growth.BESIDE)
def test_every_function_is_called(function):
    (given,) = inputs_of("an event every 20 points", 1_000)
    (growth.functions() | growth.BESIDE)[function](given)
    assert (given.y_true == inputs_of("an event every 20 points", 1_000)[0].y_true).all()  # others have it next


@pytest.mark.parametrize("kind", growth.KINDS)
def test_every_kind_has_events(kind):
    (given,) = inputs_of(kind, 1_000)
    assert given.y_true.any()
    assert len(given.incidents) == len(dqeval.intervals_from_labels(given.y_true, given.times))
    assert given.alerts == dqeval.intervals_from_labels(given.alarms, given.times)


def test_many_thresholds_are_asked_of_those_that_take_them():
    takes = [name for name in growth.functions() if growth.takes_thresholds(name)]
    assert takes == ["evaluate", "dqe_score", "vus_roc", "vus_pr", "pate"]
    (given,) = inputs_of(growth.MANY_THRESHOLDS, 1_000)
    object.__setattr__(given, "thresholds", "none at all")
    for name in growth.functions().keys() - takes:
        growth.functions()[name](given)


def test_the_table(capsys):
    kinds = ["5 events", growth.MANY_THRESHOLDS]
    growth.main(["--most", "30000", "--only", "partition", "evaluate", "--kinds", *kinds])
    lines = capsys.readouterr().out.splitlines()
    count = 3  # a partition has no thresholds
    first = lines[: lines.index("", 4)]
    assert sum(line.startswith(("| partition", "| evaluate")) for line in first) == count
    assert any(line.endswith(f"of {count} rows have an exponent above {growth.MOST_EXPONENT}") for line in lines)
    assert "| function | series | points | seconds | exponent | last | np.sort | np.sum | np.fft.rfft |" in lines


def rows_of(powers):
    rows = [growth.Row(f"f{i}", "5 events", LENGTHS, tuple(1e-9 * n**p for n in LENGTHS)) for i, p in enumerate(powers)]
    beside = [growth.Row(name, "5 events", LENGTHS, tuple(1e-9 * n for n in LENGTHS)) for name in growth.BESIDE]
    return [*rows, *beside]


@pytest.mark.parametrize(("above", "shown"), [(0, 10), (3, 10), (12, 12)])
def test_all_rows_that_grow_too_much_are_shown_at_the_end(monkeypatch, capsys, above, shown):
    powers = [1.2 + i / 100 for i in range(above)] + [0.9] * (15 - above)
    monkeypatch.setattr(growth, "rows", lambda **_: rows_of(powers))
    growth.main([])
    said = capsys.readouterr().out
    assert f"{above} of 15 rows have an exponent above 1.15" in said
    last = said.split("grow on the same series:")[1].splitlines()[4:]
    assert len(last) == shown
    assert all(line.endswith("| 1.00 | 1.00 | 1.00 |") for line in last)
    if above:
        assert last[0].startswith(f"| f{above - 1} | 5 events | 10,000,000 |")


def test_the_table_of_some_kinds(capsys):
    growth.main(["--most", "1000", "--only", "partition", "--kinds", "5 events"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("| partition") for line in lines) == 1
    assert any(line.startswith("| partition | 5 events |") for line in lines)
