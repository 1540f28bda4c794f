"""All results of a benchmark run as one table, in CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dqeval.bench.store import COLUMNS, Store
from dqeval.render.tables import in_csv
from dqeval.support import extras
from dqeval.support.writing import atomic_write, write_table


def export(folder: str | Path, path: str | Path) -> int:
    """Write all results as CSV or Parquet, and return how many rows there are.

    The last column, ``planned``, is 1 where the detector and the series are in the plan that was last run, and 0 where
    they are from an earlier one.

    Parameters
    ----------
    folder : str or Path
        The folder of the run.
    path : str or Path
        The file to write: Parquet if it ends with .parquet, and otherwise CSV.

    Returns
    -------
    int
        How many rows were written: one per series, detector, seed and metric, and one for each run of a detector.

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> state = dqeval.bench.run(plan, "runs/today")
    >>> dqeval.bench.export("runs/today", "all.csv")
    12
    """
    columns = (*COLUMNS, "planned")
    with Store(folder) as store:
        if Path(path).suffix.lower() == ".parquet":
            return _to_parquet(columns, store.export_rows(), path)
        return write_table(path, columns, map(in_csv, store.export_rows()))


def _to_parquet(columns: Sequence[str], rows: Iterable[Sequence[Any]], path: str | Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"Parquet files need pyarrow: {extras.install('files')}") from None
    found = list(rows)
    table = pyarrow.table({name: [row[i] for row in found] for i, name in enumerate(columns)})
    with atomic_write(path) as place:
        parquet.write_table(table, place)
    return len(found)
