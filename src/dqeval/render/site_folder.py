"""The folder that a site is written to: nothing in it that is not of a site is touched."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import Any

from dqeval.analysis.verify import read_receipt
from dqeval.support.writing import atomic_write, write_text

RECEIPT = "receipt.json"
COMMAND = "bench site"


@dataclass(frozen=True, slots=True)
class SiteFolder:
    """A folder that does not exist, is empty, or holds a site."""

    path: Path

    def check(self) -> None:
        """Check that the folder may be written to: that it does not exist, is empty, or holds a site, and no links."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path}: this is a file; name a folder")
        found = sorted(self.path.iterdir()) if self.path.is_dir() else []
        receipt = self.path / RECEIPT
        if found and (receipt.is_symlink() or not receipt.is_file() or files_of_site(self.path) is None):
            what = f"this folder holds other things, such as {found[0].name}, and no site"
            raise ValueError(f"{self.path}: {what}: name a new folder")
        if odd := contents_of(self.path)[1]:
            what = f"{odd[0]} in it is a link or a device, and a site is not written through those"
            raise ValueError(f"{self.path}: {what}: remove it, or name a new folder")

    def claim(self) -> None:
        """Mark the folder as that of a site, so that one that is not finished is known as one."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / RECEIPT).exists():
            write_text(self.path / RECEIPT, _text({"command": COMMAND, "files": {}}))

    def write(self, files: Mapping[str, str], receipt: Mapping[str, Any], others: Mapping[str, str]) -> int:
        """Write the files, remove those of an earlier site that are not among them, and write the receipt.

        Parameters
        ----------
        files : mapping of str to str
            Texts, by path.
        receipt : mapping
            To which the digests and sizes of all files are added.
        others : mapping of str to str
            Digests of files that are there already.

        Returns
        -------
        int
            How many bytes the site has, without its receipt.
        """
        before = files_of_site(self.path) or {}
        for name, text in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(place, lasting=False) as file:
                file.write_bytes(text.encode())
        digests = {name: digest_of(text.encode()) for name, text in files.items()} | dict(others)
        found = contents_of(self.path)[0]
        for name in before.keys() & found.keys() - digests.keys():
            (self.path / name).unlink()
        sizes = {name: found[name] for name in sorted(digests)}
        write_text(self.path / RECEIPT, _text({**receipt, "files": dict(sorted(digests.items())), "bytes": sizes}))
        return sum(sizes.values())


def files_of_site(folder: Path) -> dict[str, str] | None:
    """Return the digests of the files of the site in a folder, by path; None if there is no site."""
    try:
        receipt = read_receipt(folder / RECEIPT)
    except (OSError, ValueError):
        return None
    return files_in(receipt)


def is_site_receipt(receipt: Any) -> bool:
    """Tell whether a receipt is that of a site."""
    return isinstance(receipt, dict) and receipt.get("command") == COMMAND


def files_in(receipt: Any) -> dict[str, str] | None:
    """Return the digests that the receipt of a site has; None if it is the receipt of something else."""
    if not is_site_receipt(receipt):
        return None
    files = receipt.get("files")
    well = isinstance(files, dict) and all(isinstance(digest, str) for digest in files.values())
    return files if well else None


def sizes_in(receipt: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of the files that the receipt of a site has; those of earlier versions have none."""
    sizes = receipt.get("bytes")
    return {name: size for name, size in sizes.items() if isinstance(size, int)} if isinstance(sizes, dict) else {}


def is_name(name: str) -> bool:
    """Tell whether this is how a receipt names a file: from its folder downwards, in one way, on every system."""
    parts = PurePosixPath(name).parts
    writable = name.encode(errors="replace").decode() == name and not set(name) & {"\\", ":", "\0"}
    return writable and bool(parts) and name == "/".join(parts) and parts[0] != "/" and ".." not in parts


def contents_of(folder: Path) -> tuple[dict[str, int], list[str]]:
    """Return the sizes of all files in a folder, by path, and the paths of links, devices and the like.

    No link is followed.
    """
    files: dict[str, int] = {}
    odd = []
    for place, folders, names in os.walk(folder):
        for path in sorted(Path(place, name) for name in (*folders, *names)):
            state, name = path.lstat(), path.relative_to(folder).as_posix()
            if S_ISREG(state.st_mode):
                files[name] = state.st_size
            elif path.is_symlink() or not path.is_dir():
                odd.append(name)
    return files, odd


def digest_of(content: bytes) -> str:
    """Return the SHA-256 digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 digest of a file, which is read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text(receipt: Mapping[str, Any]) -> str:
    return json.dumps(receipt, indent=1, allow_nan=False) + "\n"
