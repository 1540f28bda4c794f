"""Modules and files that people name, imported for what they register."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dqeval.support.writing import note_input


def import_all(modules: Iterable[str], folder: str, *, called: str, hint: str) -> None:
    """Import modules by name, or files that end with .py; what cannot be imported is a `ValueError`.

    Parameters
    ----------
    modules : iterable of str
    folder : str
        Where modules are looked for, after all other places, and what the paths of files are relative to. It stays
        within reach, as do the folders of files.
    called : str
        What messages call a module, with {} in place of its name.
    hint : str
        What to do where a module is not found.
    """
    for module in modules:
        if module.endswith(".py"):
            _import_file(Path(folder, module).resolve(), called.format(module), hint)
        else:
            _import(module, folder, called.format(module), hint)


def found_from_anywhere(modules: Iterable[str]) -> tuple[str, ...]:
    """Return modules so that processes in other folders find them: those of the current folder as whole paths."""
    files = {module: Path(module if module.endswith(".py") else f"{module}.py") for module in modules}
    return tuple(str(path.resolve()) if path.is_file() else module for module, path in files.items())


def named_object(text: str, folder: str, *, called: str, hint: str) -> Any:
    """Return what a module, or a file that ends with .py, defines under a name: ``MODULE:NAME`` or ``FILE.py:NAME``.

    ``folder`` and ``hint`` are those of `import_all`; ``called`` says where the text was given.
    """
    module, _, name = text.rpartition(":")
    if not (module and name):
        raise ValueError(f"{called} {text}: write it as MODULE:NAME or FILE.py:NAME")
    import_all([module], folder, called=f"{called} {text}: {{}}", hint=hint)
    found = sys.modules[Path(module).stem if module.endswith(".py") else module]
    if not hasattr(found, name):
        raise ValueError(f"{called} {text}: {module} has no {name}")
    return getattr(found, name)


def _import_file(path: Path, what: str, hint: str) -> None:
    if not path.is_file():
        raise ValueError(f"{what} cannot be imported: there is no such file")
    _import(path.stem, str(path.parent), what, hint)
    found = getattr(sys.modules[path.stem], "__file__", None)
    if found is None or Path(found).resolve() != path:
        raise ValueError(f"{what} cannot be imported: another module is called {path.stem!r}, so rename the file")


def _import(name: str, folder: str, what: str, hint: str) -> None:
    # Last, so that a file in the folder hides nothing that is installed.
    if folder and folder not in sys.path:
        sys.path.append(folder)
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{what} cannot be imported: {_said(error, name, hint)}") from error
    note_input(getattr(module, "__file__", None) or "")


def _said(error: BaseException, module: str, hint: str) -> str:
    """Return an error in one line, and what to do where the module, or one that it imports, is not found."""
    text = " ".join(str(error).split())
    if not isinstance(error, ModuleNotFoundError):
        return f"{type(error).__name__}: {text}"
    if error.name is None or f"{module}.".startswith(f"{error.name}."):
        return f"{text}; {hint}"
    return f"it imports {error.name}, which is not found: install it, or put it beside"
