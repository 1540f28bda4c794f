"""The bounds of every ranking: what the best and the emptiest answers get, which are shown and not ranked."""

from __future__ import annotations

BOUNDS = ("perfect", "silent")  # labels of detectors in the results
