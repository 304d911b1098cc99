"""Where an index lies: every spelling of its path becomes the same folder, and links inside that folder are refused.

SQLite names its log after the file that a link points to, and locks are files of the folder: only a path without links
lets all processes see the same log and the same locks.
"""

import os
import re
from pathlib import Path

from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError

CATALOG_NAME = "catalog.sqlite3"
JOURNAL_NAME = f"{CATALOG_NAME}-journal"
LOCK_NAME = "writer.lock"
NOTE_NAME = "catalog.acknowledged"
SEGMENT_FOLDER = "segments"
SEGMENT_NAME = re.compile(r"\d{12,19}-\d{12,19}\.segment")

# What this program writes to: a link there would let a folder that came from elsewhere have other files overwritten.
_WRITTEN = (f"{CATALOG_NAME}-wal", f"{CATALOG_NAME}-shm", JOURNAL_NAME, NOTE_NAME, LOCK_NAME, SEGMENT_FOLDER)


def real_folder(folder: Path) -> Path:
    """Return the folder that holds an index's files: links of the path, and a linked catalog, are followed.

    Raises NotFoundError for a link that leads nowhere, InvalidInputError for a catalog that is a link to a file of
    another name, since its log and its segments cannot be found from there.
    """
    catalog = folder / CATALOG_NAME
    for one in (catalog, folder, *folder.parents):
        if one.is_symlink() and not one.exists():
            raise NotFoundError(
                f"{one} is a link to {os.path.realpath(one)}, which is not there.",
                "Mount the disk that it is on, or delete the link.",
            )
    target = Path(os.path.realpath(catalog))
    if target.name != CATALOG_NAME:
        raise InvalidInputError(
            f"{catalog} is a link to {target}.", f"Link the folder of an index, or a file named {CATALOG_NAME}."
        )
    return target.parent


def check_links(folder: Path) -> None:
    """Refuse an index with links, or a rollback journal, among its own files. Raises CorruptError.

    No index has a rollback journal: what it names would be deleted by opening the catalog.
    """
    for name in _WRITTEN:
        if (folder / name).is_symlink():
            raise CorruptError(
                f"{folder / name} is a link.", "Put the file itself in its place; only the whole folder may be a link."
            )
    if os.path.lexists(folder / JOURNAL_NAME):
        raise CorruptError(
            f"{folder} holds a {JOURNAL_NAME}, which is not part of an index.",
            "Restore a copy, or sync into a new index.",
        )


def is_segment_file(name: str) -> bool:
    """Return whether a file of the segments' folder has a segment's name, or that of one being written."""
    return SEGMENT_NAME.fullmatch(name.removesuffix(".new")) is not None


def check_not_lost(folder: Path) -> None:
    """Refuse to begin again where the rest of an index lies. Raises CorruptError."""
    log = folder / f"{CATALOG_NAME}-wal"
    if log.exists() or any((folder / SEGMENT_FOLDER).iterdir()):
        raise CorruptError(
            f"The index in {folder} has lost its {CATALOG_NAME}.",
            "Restore a copy; or delete the folder and sync again.",
        )
