"""The table of how times grow, on tiny series."""

import math

import pytest

from benchmarks import growth

LENGTHS = growth.LENGTHS


def row_of(time_of, lengths=LENGTHS):
    return growth.Row("explain", "5 events", tuple(lengths), tuple(map(time_of, lengths)))


def test_a_row_has_the_power_with_which_time_grew():
    row = growth.Row("explain", "5 events", (10_000, 40_000), (0.01, 0.16))
    assert (row.exponent, row.last) == pytest.approx((2, 2))
    assert str(row) == "| explain | 5 events | 40,000 | 0.16 | 2.00 | 2.00 |"


@pytest.mark.parametrize("lengths", [(1_000,), (1_000, 3_162), (1_000, 3_162, 10_000)])
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


def test_a_row_ends_where_a_call_takes_long():
    assert growth.measured("np.sort", "random walk", most=10_000).points == (1_000, 3_162, 10_000)
    assert growth.measured("np.sort", "random walk", most=10_000, longest=0.0).points == (1_000,)


@pytest.mark.parametrize("function", growth.functions())
def test_every_function_is_called(function):
    growth.functions()[function](growth.KINDS["an event every 20 points"](1_000))


@pytest.mark.parametrize("kind", growth.KINDS)
def test_every_kind_has_events(kind):
    assert growth.KINDS[kind](1_000).y_true.any()
    assert growth.measured("evaluate", kind, most=1_000).seconds[0] > 0


def test_the_table(capsys):
    growth.main(["--most", "31623", "--only", "partition", "evaluate"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("| partition", "| evaluate")) for line in lines) == 2 * len(growth.KINDS) + growth.WORST
    assert lines[-1].endswith(f"of {2 * len(growth.KINDS)} rows have an exponent above {growth.MOST_EXPONENT}")


def test_the_table_of_some_kinds(capsys):
    growth.main(["--most", "1000", "--only", "partition", "--kinds", "5 events"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("| partition") for line in lines) == 1
    assert any(line.startswith("| partition | 5 events |") for line in lines)
