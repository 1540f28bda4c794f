"""The examples of several series, which differ in how many they have, as batches for one step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

BATCH = 128


@dataclass(frozen=True, slots=True)
class Step:
    """The examples that series have from the same place on.

    Attributes
    ----------
    start : int
        The number of the first.
    series : int
        How many series, from the first on, have some.
    count : int
        How many there are in the series that has most.
    """

    start: int
    series: int
    count: int


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches of a step, those of the first series first.

    Attributes
    ----------
    spans : Tensor of shape (batches, rows, span)
    shares : Tensor of shape (batches, rows)
        What each example counts in the mean of its batch; nothing if it only fills up the rows.
    """

    spans: Tensor
    shares: Tensor


class Windows:
    """All spans of several series, without more memory than the series need."""

    def __init__(self, parts: Sequence[Tensor], span: int) -> None:
        import torch

        lengths = [len(part) for part in parts]
        self.counts = [length - span + 1 for length in lengths]
        # One series stands behind the other; nothing is taken from where two meet.
        self._spans = torch.cat(list(parts)).unfold(0, span, 1)
        table = torch.from_numpy(np.array([np.cumsum([0, *lengths[:-1]]), self.counts]))
        self._starts, self._counts = table.to(self._spans.device)[:, :, None]

    def steps(self, size: int) -> Iterator[Step]:
        """Yield the steps through all examples, so many of each series at a time."""
        for start in range(0, max(self.counts), size):
            with_some = [number for number, count in enumerate(self.counts, 1) if count > start]
            yield Step(start, with_some[-1], min(size, max(self.counts) - start))

    def in_order(self, step: Step) -> Batches:
        """Return the examples of a step as they follow each other in time."""
        import torch

        rows = step.count if step.count < BATCH else BATCH * math.ceil(step.count / BATCH)
        numbers = torch.arange(step.start, step.start + rows, device=self._counts.device)
        return self.chosen(step, torch.minimum(numbers, self._counts[: step.series] - 1))

    def chosen(self, step: Step, numbers: Tensor) -> Batches:
        """Return examples by their numbers, shape (series, rows); rows that a series does not have do not count."""
        import torch

        rows = numbers.shape[1]
        spans = self._spans[self._starts[: step.series] + numbers]
        there = torch.arange(step.start, step.start + rows, device=numbers.device) < self._counts[: step.series]
        counted = there.view(-1, min(rows, BATCH)).to(spans.dtype)
        shares = counted / counted.sum(1, keepdim=True).clamp(min=1)
        return Batches(spans.view(*shares.shape, spans.shape[-1]), shares)
