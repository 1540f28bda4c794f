"""Dask: groups of a Dask DataFrame, in any number of partitions, give the numbers of the whole frame."""

import numpy as np
import pytest

import dqeval

pytest.importorskip("dask.dataframe")

import dask.dataframe as dd
import pandas as pd

SERIES = dqeval.datasets.demo()
ONE = pd.DataFrame({"minute": range(len(SERIES.labels)), "label": SERIES.labels, **SERIES.scores})
HOSTS = pd.concat([ONE.assign(host="a"), ONE.assign(host="b", late=ONE["late"] ** 2)], ignore_index=True)
COLUMNS = [name for name in HOSTS.columns if name != "host"]


@pytest.mark.parametrize("partitions", [1, 3, 7])
@pytest.mark.parametrize("function", [dqeval.evaluate_frame, dqeval.evaluate_frame_events])
def test_groups_give_the_numbers_of_the_whole_frame(function, partitions):
    frame = dd.from_pandas(HOSTS.sample(frac=1, random_state=0, ignore_index=True), npartitions=partitions)
    options = {"times": "minute", "near": 24}
    meta = function(frame._meta[COLUMNS], **options)
    grouped = frame.groupby("host")[COLUMNS].apply(function, meta=meta, **options)
    assert grouped.dtypes.equals(meta.dtypes)
    found = grouped.compute().reset_index("host")
    keys = [name for name in ("host", "detector", "event") if name in found]
    expected = function(HOSTS, by="host", **options)
    found, expected = (each.sort_values(keys, ignore_index=True) for each in (found, expected))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)
    assert np.isfinite(found["dqe"]).all()


def test_a_frame_that_is_not_split_yet_is_refused_with_advice():
    with pytest.raises(
        ValueError, match=r"^frame is a DataFrame of Dask: give its groups, as in .* or call compute\(\)"
    ):
        dqeval.evaluate_frame(dd.from_pandas(HOSTS, npartitions=2), by="host")
