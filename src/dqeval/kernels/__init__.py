"""The loops: arrays in, arrays out, no checks. Python files that the installation compiles where it can."""

from dqeval.kernels import affiliation, buffers, dqe, etapr, intervals, levels, neighbours, ranges, runs, sorting, sweep

_KERNELS = (affiliation, buffers, dqe, etapr, intervals, levels, neighbours, ranges, runs, sorting, sweep)
compiled: bool = all(kernel.compiled for kernel in _KERNELS)
"""Whether the kernels run compiled. If not, results are the same and take longer."""
