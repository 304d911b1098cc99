"""Deleting an index for good, and nothing else that lies in its folder."""

import shutil
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import InvalidInputError
from twofold.stores.local.acknowledged import NOTE_NAME
from twofold.stores.local.catalog import CATALOG_NAME
from twofold.stores.local.durable import refusal
from twofold.stores.local.lock import LOCK_NAME, WriterLock
from twofold.stores.local.snapshot import SEGMENT_FOLDER


def remove(folder: Path, wait_seconds: float) -> None:
    """Delete an index and its folder; the catalogue goes last, so that what is interrupted can be run again.

    Raises InvalidInputError, deleting nothing, when the folder holds more than an index, WriterBusyError when another
    process is writing to it.
    """
    names = sorted(path.name for path in folder.iterdir())
    strangers = [name for name in names if not _is_ours(name)]
    if strangers:
        raise InvalidInputError(
            f"{folder} holds more than an index: {', '.join(strangers[:3])}.",
            f"Delete {CATALOG_NAME}*, {SEGMENT_FOLDER} and {LOCK_NAME} in it yourself.",
        )
    try:
        with WriterLock(folder / LOCK_NAME, wait_seconds).held():
            shutil.rmtree(folder / SEGMENT_FOLDER, ignore_errors=True)
            for name in sorted(names, key=CATALOG_NAME.__eq__):
                if name != SEGMENT_FOLDER:
                    (folder / name).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            folder.rmdir()
    except OSError as error:
        raise refusal(error, str(folder)) from error


def _is_ours(name: str) -> bool:
    return name.startswith(CATALOG_NAME) or name in {SEGMENT_FOLDER, LOCK_NAME, NOTE_NAME}
