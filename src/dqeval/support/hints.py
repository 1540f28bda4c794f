"""Which options a message may name: those of the command that runs, so that no hint leads to an error."""

from __future__ import annotations

import os
from collections.abc import Iterable

_OPTIONS = "_DQEVAL_OPTIONS"  # in the environment, which processes that a command starts have too


def know_options(options: Iterable[str] | None) -> None:
    """Remember the options of the command that runs; None where it ends."""
    if options is None:
        os.environ.pop(_OPTIONS, None)
    else:
        os.environ[_OPTIONS] = " ".join(options)


def may_name(option: str) -> bool:
    """Tell whether a message may name an option: the command has it, or no command runs."""
    known = os.environ.get(_OPTIONS)
    return known is None or option in known.split()
