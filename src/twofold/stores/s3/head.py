"""The head of an index in a bucket: which objects make up its newest state.

It is the only object that is ever replaced:

    "twofold head 1" and a line feed             15 bytes
    what `Head` holds, as MessagePack
    BLAKE2b of all that stands before            16 bytes

The catalog is one SQLite file, kept as blocks of 128 KiB; a change writes those that it touches as new objects. Keys
are never used twice: each commit draws its own, so that deleting what no head names cannot hit what another is
about to name.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from twofold.domain.errors import CorruptError, MismatchError
from twofold.stores.local.catalog import FORMAT_VERSION
from twofold.stores.s3.bucket import OBJECTS

MAGIC = b"twofold head 1\n"
BLOCK_BYTES = 128 * 1024
DIGEST_BYTES = 16
COMMITS_REMEMBERED = 64
KEY = re.compile(rf"{OBJECTS}/[0-9a-f]{{16}}/[0-9]{{1,10}}")
_RECORD = struct.Struct("<8sII16s")


class Ref(NamedTuple):
    """An object: which commit wrote it, its number there, its length and its digest."""

    commit: bytes
    number: int
    length: int
    digest: bytes

    @property
    def key(self) -> str:
        """The object's key."""
        return f"{OBJECTS}/{self.commit.hex()}/{self.number}"


class Head(NamedTuple):
    """One state of an index. `number` counts the commits, `before` names the last of them, the newest first.

    `dropped` are the keys that recent commits no longer name, by the second in which they did so.
    """

    lineage: str
    number: int
    before: tuple[str, ...]
    size: int
    blocks: tuple[Ref, ...]
    segments: Mapping[str, Ref]
    dropped: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def named(self) -> frozenset[str]:
        """The keys of all objects that it names."""
        return frozenset(one.key for one in (*self.blocks, *self.segments.values()))


class _Written(msgspec.Struct, frozen=True, array_like=True):
    format: int
    lineage: str
    number: int
    before: tuple[str, ...]
    size: int
    blocks: bytes
    segments: dict[str, bytes]
    dropped: tuple[tuple[int, tuple[str, ...]], ...]


def digest_of(data: bytes | memoryview) -> bytes:
    """Return the digest by which an object is known."""
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def write_head(head: Head) -> bytes:
    """Return a head's bytes."""
    written = _Written(
        FORMAT_VERSION,
        head.lineage,
        head.number,
        head.before,
        head.size,
        _packed(head.blocks),
        {name: _packed([one]) for name, one in head.segments.items()},
        head.dropped,
    )
    body = MAGIC + msgspec.msgpack.encode(written)
    return body + digest_of(body)


def read_head(data: bytes) -> Head:
    """Read a head. What it says is data. Raises CorruptError, or MismatchError for another format."""
    body, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if not body.startswith(MAGIC) or digest_of(body) != digest:
        raise _damaged("it fails its checksum")
    try:
        found = msgspec.msgpack.decode(body[len(MAGIC) :], type=_Written)
        blocks = _unpacked(found.blocks)
        segments = {name: _unpacked(one)[0] for name, one in found.segments.items()}
    except (msgspec.MsgspecError, struct.error, IndexError) as error:
        raise _damaged(str(error)) from error
    if found.format != FORMAT_VERSION:
        raise MismatchError(
            f"The index has format {found.format}; this twofold reads format {FORMAT_VERSION}.",
            "Use the version of twofold that wrote it, or sync into a new index.",
        )
    lengths = [min(BLOCK_BYTES, found.size - start) for start in range(0, max(found.size, 0), BLOCK_BYTES)]
    if lengths != [one.length for one in blocks]:
        raise _damaged("its blocks do not add up")
    if not all(KEY.fullmatch(key) for _, keys in found.dropped for key in keys):
        raise _damaged("it names what is no object of an index")
    return Head(found.lineage, found.number, found.before, found.size, blocks, segments, found.dropped)


def _packed(refs: Sequence[Ref]) -> bytes:
    return b"".join(_RECORD.pack(*one) for one in refs)


def _unpacked(data: bytes) -> tuple[Ref, ...]:
    return tuple(Ref(*one) for one in _RECORD.iter_unpack(data))


def _damaged(why: str) -> CorruptError:
    return CorruptError(f"The head of the index in the bucket is damaged: {why}.", "Sync into a new index.")
