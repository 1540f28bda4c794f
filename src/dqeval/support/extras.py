"""What to install for the parts that need more than NumPy."""

from __future__ import annotations


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
