"""Labels to events."""

import numpy as np

from dqeval.core.types import BoolArray, Events


def find_events(flags: BoolArray) -> Events:
    """Return the maximal runs of true flags.

    Examples
    --------
    >>> list(find_events(np.array([0, 1, 1, 0, 1], dtype=bool)))
    [(1, 3), (4, 5)]
    """
    changes = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    borders = np.concatenate([[0] if flags[0] else [], changes, [len(flags)] if flags[-1] else []]).astype(np.intp)
    return Events(starts=borders[0::2].copy(), stops=borders[1::2].copy(), length=len(flags))
