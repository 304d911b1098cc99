"""How far the catalog was acknowledged: a small file next to it, which tells lost commits from commits never made.

After a crash SQLite takes its log up to the first frame that does not check, since a power cut may have torn what was
being written. A flipped bit or a cut file looks the same, and would silently undo what was acknowledged. So after each
commit, which is durable by then, its number is noted here without waiting for the disk: a note can be older than the
catalog, never newer, unless the catalog has lost something.
"""

import logging
import os
from contextlib import suppress
from pathlib import Path

import xxhash

from twofold.stores.local.place import NOTE_NAME
from twofold.system.files import open_plain

NUMBER_BYTES = 8
CHECKSUM_BYTES = 8

logger = logging.getLogger(__name__)


def note(folder: Path, commits: int) -> None:
    """Note that this many commits were acknowledged. A disk that refuses costs the warning and nothing else."""
    number = commits.to_bytes(NUMBER_BYTES, "little")
    try:
        handle = open_plain(folder / NOTE_NAME, os.O_WRONLY | os.O_CREAT)
        try:
            os.write(handle, number + xxhash.xxh3_64_digest(number))
        finally:
            os.close(handle)
    except OSError as error:
        logger.warning("Cannot note what was acknowledged: %s.", error.strerror)


def noted(folder: Path) -> int | None:
    """Return the commits noted: 0 without a note, None for a note that cannot be read or fails its checksum."""
    try:
        data = (folder / NOTE_NAME).read_bytes()
    except FileNotFoundError:
        return 0
    except OSError:
        return None
    number = data[:NUMBER_BYTES]
    if len(data) != NUMBER_BYTES + CHECKSUM_BYTES or xxhash.xxh3_64_digest(number) != data[NUMBER_BYTES:]:
        return None
    return int.from_bytes(number, "little")


def forget(folder: Path) -> None:
    """Remove the note: the log is empty, and the catalog's own checksums guard it."""
    with suppress(OSError):
        (folder / NOTE_NAME).unlink()
