"""Put a finished file in its place so that a reader, or a power cut, sees the old one or the new one whole."""

import os
from pathlib import Path


def put_in_place(finished: Path, target: Path) -> Path:
    """Flush `finished` to disk and rename it to `target` on the same file system; `sync_folder` makes the name stay."""
    with finished.open("rb") as content:
        os.fsync(content.fileno())
    return finished.replace(target)


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
