"""Arrays from npy and npz files: what headers claim is compared with what is there before memory is taken for it."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from dqeval.datasets.guard import RefusedError, check_size, damage, size_of

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as numpy.savez and numpy.savez_compressed do
_ENCRYPTED = 1

Array = NDArray[Any]


def npz_names(path: Path) -> list[str]:
    """Return the names of the arrays in an npz file; none if it cannot be read, as its reader will say."""
    try:
        with path.open("rb") as file, damage("an npz file"), zipfile.ZipFile(file) as archive:
            return list(map(_name, archive.infolist()))
    except (ValueError, OSError):
        return []


def npz_arrays(path: Path, folder: str = "") -> dict[str, Array]:
    """Return the arrays of an npz file by name: all, or those in a folder, such as "a" for a/b and a/c."""
    within = f"{folder}/" if folder else ""
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("not an npz file, which numpy.savez writes")
        with damage("an npz file"), zipfile.ZipFile(file) as archive:
            found = [info for info in archive.infolist() if _name(info).startswith(within)]
            members = {_name(info): info for info in found}
            if len(members) < len(found):
                raise RefusedError("two arrays have the same name")
            check_size(sum(info.file_size for info in found), size_of(file))
            return {name: _member(archive, name, info) for name, info in members.items()}


def npy_array(path: Path) -> Array:
    """Return the array of an npy file, which must hold points."""
    with path.open("rb") as file, damage(f"an npy file ({path.name})"):
        array = _read(file, path.name, size_of(file))
    if not array.ndim:
        raise ValueError(f"{path.name} must hold a column or several: it holds a single value")
    return array


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename.removesuffix(".npy")


def _member(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> Array:
    if info.flag_bits & _ENCRYPTED:
        raise RefusedError(f"the array {name} is encrypted: save it without a password")
    if info.compress_type not in _PACKED:
        raise RefusedError(f"the array {name} is packed in an unknown way: write it with numpy.savez_compressed")
    with archive.open(info) as stream:
        return _read(stream, name, info.file_size)


def _read(stream: IO[bytes], name: str, size: int) -> Array:
    """Return an array, if there are as many bytes as its header says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on old or odd headers; what follows from them is checked here
        header = _HEADERS.get(npy.read_magic(stream))
        if header is None:
            raise RefusedError(f"the array {name} is in a form for records with names, not for numbers")
        shape, _, dtype = header(stream)
        if dtype.hasobject:
            raise RefusedError(f"the array {name} holds Python objects, which are not read from files: save numbers")
        needed, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
        if needed != there:
            raise RefusedError(f"the array {name} has the shape {shape}: that takes {needed:,} bytes, not {there:,}")
        stream.seek(0)
        array: Array = npy.read_array(stream, allow_pickle=False)
    return array
