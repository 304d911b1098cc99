"""Deleting an index for good, and nothing else that lies in its folder."""

import shutil
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import InvalidInputError
from twofold.stores.local.acknowledged import NOTE_NAME
from twofold.stores.local.catalog import CATALOG_NAME
from twofold.stores.local.durable import refusal
from twofold.stores.local.lock import LOCK_NAME
from twofold.stores.local.snapshot import SEGMENT_FOLDER


def remove(folder: Path) -> None:
    """Delete a closed index and its folder. Raises InvalidInputError, deleting nothing, when the folder holds more."""
    own = [path for path in folder.iterdir() if _is_ours(path.name)]
    strangers = sorted(path.name for path in folder.iterdir() if not _is_ours(path.name))
    if strangers:
        raise InvalidInputError(
            f"{folder} holds more than an index: {', '.join(strangers[:3])}.",
            f"Delete {CATALOG_NAME}*, {SEGMENT_FOLDER} and {LOCK_NAME} in it yourself.",
        )
    try:
        for path in own:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        with suppress(FileNotFoundError):
            folder.rmdir()
    except OSError as error:
        raise refusal(error, str(folder)) from error


def _is_ours(name: str) -> bool:
    return name.startswith(CATALOG_NAME) or name in {SEGMENT_FOLDER, LOCK_NAME, NOTE_NAME}
