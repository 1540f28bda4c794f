"""The loops: arrays in, arrays out, no checks. Python files that the installation compiles where it can."""

from dqeval.kernels import dqe

compiled: bool = dqe.compiled
"""Whether the kernels run compiled. If not, results are the same and take longer."""
