"""Records of derived files: what they were made from, and their checksums, so that rot is noticed before it is used.

XXH3 (128 bits) reads 10 GB/s, so even a cold query can afford to check all of the weights. It guards against
damage, not against an enemy: anyone who can write into the cache can also write the record.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import xxhash

from twofold.system.files import flush_folder, replace_durably

CONVERTED = "converted.json"
FORMAT = 1
PIECE = 1 << 20


class FileRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One derived file: its name in the same folder, its size in bytes, its XXH3-128 checksum in hexadecimal."""

    name: str
    size: int
    xxh3: str


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Derived files that belong together, and `source`: what they were made from and for."""

    format: int
    source: str
    files: tuple[FileRecord, ...]


def checksum(path: Path) -> str:
    """Return a file's XXH3-128 in hexadecimal."""
    hasher = xxhash.xxh3_128()
    with path.open("rb") as content:
        while piece := content.read(PIECE):
            hasher.update(piece)
    return hasher.hexdigest()


def record_of(source: str, folder: Path, names: Sequence[str]) -> Record:
    """Describe files as they are now."""
    files = tuple(FileRecord(name, (folder / name).stat().st_size, checksum(folder / name)) for name in names)
    return Record(FORMAT, source, files)


def read_record(path: Path) -> Record | None:
    """Read a record; None if it is missing or of another version."""
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None
    return record if record.format == FORMAT else None


def write_record(record: Record, path: Path, partial: Path) -> None:
    """Write a record whole or not at all; `partial` is a folder on the same file system."""
    draft = partial / path.name
    draft.write_bytes(msgspec.json.encode(record))
    replace_durably(draft, path)
    flush_folder(path.parent)


def damage(record: Record, folder: Path) -> tuple[tuple[str, str], ...]:
    """Compare files with their record: (name, what is wrong) of each that differs."""
    found = []
    for file in record.files:
        path = folder / file.name
        if not path.is_file():
            found.append((file.name, "it is missing"))
        elif path.stat().st_size != file.size or checksum(path) != file.xxh3:
            found.append((file.name, "its checksum is not the one recorded"))
    return tuple(found)
