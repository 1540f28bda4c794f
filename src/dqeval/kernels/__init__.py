"""The loops: arrays in, arrays out, no checks. Python files that the installation compiles where it can.

A new one is a file beside this one that begins as ``ranges.py`` does, and its name in the import and in `_KERNELS`.
"""

from dqeval.kernels import (
    affiliation,
    buffers,
    covered,
    distinct,
    dqe,
    etapr,
    intervals,
    levels,
    neighbours,
    ranges,
    runs,
    sorting,
    sweep,
)

# Extensions are optional: some may be compiled, and others not.
_KERNELS = (
    affiliation,
    buffers,
    covered,
    distinct,
    dqe,
    etapr,
    intervals,
    levels,
    neighbours,
    ranges,
    runs,
    sorting,
    sweep,
)
compiled: bool = all(kernel.compiled for kernel in _KERNELS)
"""Whether the kernels run compiled. If not, results are the same and take longer."""
