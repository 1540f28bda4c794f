"""Names that every docstring example may use."""

import numpy as np
import pytest

import dqeval


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace.update(dqeval=dqeval, np=np)
