"""What to install for the parts that need more than NumPy."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_MODULES = {"deep": "torch"}  # by which it is told whether what an extra brings is installed


def install(extra: str) -> str:
    """Return the command that installs what an extra needs.

    It names the packages themselves and not dqeval, so that it works wherever dqeval was installed from, in any folder.

    Examples
    --------
    >>> install("plot")
    "pip install 'matplotlib>=3.8'"
    """
    from importlib.metadata import requires  # slower than the import of dqeval, and seldom needed

    needs = [need.replace("'", '"').partition(";") for need in requires("dqeval") or ()]
    packages = [package.strip() for package, _, rule in needs if f'extra == "{extra}"' in rule]
    return " ".join(["pip install", *(f"'{package}'" for package in packages)])


def missing(extra: str | None) -> str | None:
    """Return the module that an extra brings and that is not installed; None if nothing is known to be missing."""
    module = _MODULES.get(extra or "")
    return None if module is None or find_spec(module) is not None else module


def require(module: str, package: str) -> Any:
    """Return a module of another library; if that, or what it needs, is not installed, the error says what to do."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        absent = (error.name or module).partition(".")[0]
        if absent == module.partition(".")[0]:
            advice = f": install it with pip install {package}"
        else:
            advice = f", which {package} needs: install {absent}, too"
        raise ModuleNotFoundError(f"{error}{advice}", name=error.name) from None
