"""What is read from a text file, with and without pyarrow: it must be the same, bit by bit, or the same error."""

from unittest import mock

from dqeval.datasets import files


def read(path, *, fast, series=None):
    """Return all that is read from a file, in a form that can be compared, or the error."""
    with mock.patch.object(files, "is_worth_it", return_value=fast):
        try:
            content = files.read_content(path, named=files.Named(series))
        except ValueError as error:
            return str(error)
    columns, times = content.columns, content.times
    texts = None if times is None else (times.dtype.str, times.tolist())
    rows = [(name, rows.tolist()) for name, rows in content.rows_of_series()]
    return {name: column.tobytes() for name, column in columns.items()}, list(columns), texts, rows


def difference(path, *, series=None):
    """Return what is wrong with what pyarrow reads from a file; nothing if it is as it should be."""
    slow, fast = read(path, fast=False, series=series), read(path, fast=True, series=series)
    return "" if slow == fast else f"without pyarrow {str(slow)[:200]}, and with it {str(fast)[:200]}"
