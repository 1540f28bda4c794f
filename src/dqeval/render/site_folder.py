"""The folder that a site is written to: nothing in it that is not of a site is touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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
        """Check that the folder may be written to: that it does not exist, is empty, or holds a site."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path}: this is a file; name a folder")
        found = sorted(self.path.iterdir()) if self.path.is_dir() else []
        if found and files_of_site(self.path) is None:
            what = f"this folder holds other things, such as {found[0].name}, and no site"
            raise ValueError(f"{self.path}: {what}: name a new folder")

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
            To which the digests of all files are added.
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
        for name in before.keys() - digests.keys():
            if is_inside(self.path, name):
                (self.path / name).unlink(missing_ok=True)
        write_text(self.path / RECEIPT, _text({**receipt, "files": dict(sorted(digests.items()))}))
        return sum((self.path / name).stat().st_size for name in digests)


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


def is_inside(folder: Path, name: str) -> bool:
    """Tell whether a path leads to something in a folder, and not out of it."""
    return (folder / name).resolve().is_relative_to(folder.resolve())


def digest_of(content: bytes) -> str:
    """Return the SHA-256 digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def _text(receipt: Mapping[str, Any]) -> str:
    return json.dumps(receipt, indent=1, allow_nan=False) + "\n"
