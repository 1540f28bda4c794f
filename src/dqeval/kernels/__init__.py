"""The loops: arrays in, arrays out, no checks. Python files that the installation compiles where it can."""

from dqeval.kernels import buffers, dqe, intervals, levels, neighbours, ranges, sorting

compiled: bool = all(kernel.compiled for kernel in (buffers, dqe, intervals, levels, neighbours, ranges, sorting))
"""Whether the kernels run compiled. If not, results are the same and take longer."""
