"""Deleting an index for good, and nothing else that lies in its folder or that a link in it leads to."""

import shutil
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.stores.local.durable import refusal
from twofold.stores.local.lock import WriterLock
from twofold.stores.local.place import (
    CATALOG_NAME,
    LOCK_NAME,
    NOTE_NAME,
    SEGMENT_FOLDER,
    is_segment_file,
    real_folder,
)


def remove(spelled: Path, wait_seconds: float) -> None:
    """Delete an index and its folder; the catalog goes last, so that what is interrupted can be run again.

    Where the folder is a link, the folder it leads to goes, and then the link; links inside the folder are deleted and
    not followed. Raises InvalidInputError, deleting nothing, when the folder holds more than an index or only a link
    to a catalog, WriterBusyError when another process is writing to it.
    """
    folder = real_folder(spelled)
    if (spelled / CATALOG_NAME).is_symlink():
        raise InvalidInputError(
            f"{spelled} holds only a link to the index in {folder}.",
            f"Delete the link yourself, or drop the index where it is: `twofold index drop {folder}`.",
        )
    if not folder.is_dir():
        raise NotFoundError(f"There is no index in {spelled}.", "`twofold index list` shows those there are.")
    names = sorted(path.name for path in folder.iterdir())
    strangers = [name for name in names if not _is_ours(name)] or _strange_segments(folder / SEGMENT_FOLDER)
    if strangers:
        raise InvalidInputError(
            f"{folder} holds more than an index: {', '.join(strangers[:3])}.",
            f"Delete {CATALOG_NAME}*, {SEGMENT_FOLDER} and {LOCK_NAME} in it yourself.",
        )
    try:
        with WriterLock(folder / LOCK_NAME, wait_seconds).locked():
            for name in sorted(names, key=CATALOG_NAME.__eq__):
                _remove_one(folder / name)
        with suppress(FileNotFoundError):
            folder.rmdir()
        if spelled.is_symlink():
            spelled.unlink()
    except OSError as error:
        raise refusal(error, str(folder)) from error


def _remove_one(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _strange_segments(folder: Path) -> list[str]:
    """Return the files among the segments that are not segments; none of a folder that is a link."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(f"{folder.name}/{one.name}" for one in folder.iterdir() if not is_segment_file(one.name))


def _is_ours(name: str) -> bool:
    return name.startswith(CATALOG_NAME) or name in {SEGMENT_FOLDER, LOCK_NAME, NOTE_NAME}
