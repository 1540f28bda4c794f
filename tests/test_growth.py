"""The table of how times grow, on tiny series."""

import math

import pytest

from benchmarks import growth


def test_a_row_has_the_power_with_which_time_grew():
    row = growth.Row("explain", "5 events", (1_000, 4_000), (0.01, 0.16))
    assert row.exponent == pytest.approx(2)
    assert str(row) == "| explain | 5 events | 4,000 | 0.16 | 2.00 |"
    assert math.isnan(growth.Row("explain", "5 events", (1_000,), (0.01,)).exponent)


def test_a_row_ends_where_a_call_takes_long():
    assert growth.measured("np.sort", "random walk", most=16_000).points == (1_000, 4_000, 16_000)
    assert growth.measured("np.sort", "random walk", most=16_000, longest=0.0).points == (1_000,)


@pytest.mark.parametrize("function", growth.functions())
def test_every_function_is_called(function):
    growth.functions()[function](growth.KINDS["an event every 20 points"](200))


@pytest.mark.parametrize("kind", growth.KINDS)
def test_every_kind_has_events(kind):
    assert growth.KINDS[kind](1_000).y_true.any()
    assert growth.measured("evaluate", kind, most=1_000).seconds[0] > 0


def test_the_table(capsys):
    growth.main(["--most", "4000", "--only", "partition", "evaluate"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("| partition", "| evaluate")) for line in lines) == 2 * len(growth.KINDS) + growth.WORST
