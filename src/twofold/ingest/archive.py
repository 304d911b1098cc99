"""The safe ways into what is packed: ZIP archives, and files that gzip, bzip2 or xz packed by themselves.

A ZIP is counted before it is unpacked, read member by member, never written to disk.
Office files, EPUB and OpenDocument are ZIP archives with XML inside. Sizes, count, ratio and overlaps are judged
from the central directory before a byte is unpacked; a member that lies about its size is cut at what it declared
and then fails its checksum. Names are keys into a table and never become paths.
"""

import bz2
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from types import MappingProxyType
from typing import Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.ingest.readers.types import MEBIBYTE, Limits, Source

OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_DIRECTORY_RECORD = b"PK\x01\x02"
_FORESEEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, LookupError)
_LOCAL_HEADER = struct.Struct("<26xHH")  # lengths of the name and of the extra field
_RATIO_FREE = MEBIBYTE  # a member this small may be as compressible as it likes
_ENCRYPTED_FLAG = 0x1
_XZ_MEMORY = 256 * MEBIBYTE  # four times what the densest setting of xz takes


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that kept within the limits. `names` are its files in the order of its directory, folders left out."""

    source: str
    names: tuple[str, ...]
    _zip: zipfile.ZipFile
    _folded: Mapping[str, str]

    def find(self, name: str) -> str | None:
        """Return a member's true name for one that may differ in case or by a leading slash; None if it is missing."""
        return self._folded.get(name.lstrip("/").casefold())

    def read(self, name: str) -> bytes:
        """Unpack one member. Raises ReadError when it is missing or damaged."""
        found = self.find(name)
        if found is None:
            raise ReadError(f"{self.source}: the part {name!r} is missing.", "Save the file again in its own program.")
        try:
            return self._zip.read(found)
        except _FORESEEN as error:
            raise ReadError(f"{self.source}: the part {name!r} is damaged.", "Restore it from a good copy.") from error


def open_archive(source: Source) -> Archive:
    """Open a ZIP after checking it. `source.limits.archive_depth` says how many levels of archives are left.

    Raises ReadError: `limit` for too many, too large, too dense, overlapping or too deeply nested members; `encrypted`;
    `unsupported` for methods other than store and deflate; `malformed`.
    """
    limits = source.limits
    if limits.archive_depth < 1:
        raise _over(source, "archives nested too deep")
    if len(source.data) > limits.file_bytes:
        raise _over(source, f"larger than {limits.file_bytes:,} bytes")
    if source.data.count(_DIRECTORY_RECORD) > 10 * limits.archive_entries:
        raise _over(source, f"more than {limits.archive_entries:,} members")
    try:
        opened = zipfile.ZipFile(BytesIO(source.data))
        members = opened.infolist()
        _judge(source, members)
        _refuse_overlaps(source, members, opened.start_dir)
    except _FORESEEN as error:
        raise ReadError(f"{source.name}: not a sound ZIP archive.", "Restore it from a good copy.") from error
    names = tuple(member.filename for member in members if not member.is_dir())
    folded = {name.lstrip("/").casefold(): name for name in names}
    if len(folded) != len(names):
        raise ReadError(f"{source.name}: two parts have the same name.", "Save the file again in its own program.")
    return Archive(source.name, names, opened, folded)


def packed_as(source: Source) -> str:
    """Return the suffix by which a file's name and its content say how it was packed by itself; "" if it was not.

    A packed tar archive holds many files, and is not meant.
    """
    name = source.name.lower()
    for suffix, (magic, _) in _PACKINGS.items():
        if name.endswith(suffix) and source.data.startswith(magic):
            return "" if name.endswith(f".tar{suffix}") else suffix
    return ""


def unpack(source: Source) -> Source:
    """Unpack a file that gzip, bzip2 or xz packed by itself, under its name without `.gz`; another one as it is.

    Raises ReadError: `limit` for one that unpacks to too much or is too dense, `malformed` for a damaged one.
    """
    suffix = packed_as(source)
    if not suffix:
        return source
    limits = source.limits
    if limits.archive_depth < 1:
        raise _over(source, "archives nested too deep")
    most = min(limits.unpacked_bytes, max(_RATIO_FREE, limits.archive_ratio * len(source.data)))
    begin = _PACKINGS[suffix][1]
    pieces: list[bytes] = []
    rest, room = source.data, most + 1
    try:
        while rest.strip(b"\0") and room > 0:  # files may be several packed ones in a row, with zeros behind
            member = begin()
            pieces.append(member.decompress(rest, room))
            room -= len(pieces[-1])
            if room > 0 and not member.eof:
                raise ReadError(f"{source.name}: cut short.", "Restore it from a good copy.")
            rest = member.unused_data
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError) as error:
        what = {".gz": "gzip", ".bz2": "bzip2"}.get(suffix, "xz")
        raise ReadError(f"{source.name}: not a sound {what} file.", "Restore it from a good copy.") from error
    if room <= 0:
        raise _over(source, f"more than {most:,} bytes when unpacked")
    deeper = replace(limits, archive_depth=limits.archive_depth - 1)
    return replace(source, name=source.name[: -len(suffix)], data=b"".join(pieces), limits=deeper)


def _begin_gzip() -> _Unpacker:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)  # with the header and the checksum of gzip


def _begin_xz() -> _Unpacker:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)


_PACKINGS: Mapping[str, tuple[bytes, Callable[[], _Unpacker]]] = MappingProxyType(
    {
        ".gz": (b"\x1f\x8b", _begin_gzip),
        ".bz2": (b"BZh", bz2.BZ2Decompressor),
        ".xz": (b"\xfd7zXZ\x00", _begin_xz),
    }
)
"""How a file may be packed by itself: by its suffix, how it begins, and what unpacks it."""


def _judge(source: Source, members: list[zipfile.ZipInfo]) -> None:
    limits = source.limits
    if len(members) > limits.archive_entries:
        raise _over(source, f"more than {limits.archive_entries:,} members")
    unpacked = sum(member.file_size for member in members)
    if unpacked > limits.unpacked_bytes:
        raise _over(source, f"more than {limits.unpacked_bytes:,} bytes when unpacked")
    if _is_dense(unpacked, len(source.data), limits) or any(
        _is_dense(member.file_size, member.compress_size, limits) for member in members
    ):
        raise _over(source, f"packed denser than {limits.archive_ratio} to 1")
    for member in members:
        if member.flag_bits & _ENCRYPTED_FLAG:
            raise encrypted(source)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            message = f"{source.name}: packed by method {member.compress_type}, which is not read here."
            raise ReadError(message, "Pack it again with the usual method, deflate.", kind="unsupported")


def _is_dense(unpacked: int, packed: int, limits: Limits) -> bool:
    return unpacked > _RATIO_FREE and unpacked > limits.archive_ratio * max(packed, 1)


def _refuse_overlaps(source: Source, members: list[zipfile.ZipInfo], directory: int) -> None:
    """Refuse members that share packed bytes: each could be within every limit, and all of them together not."""
    ordered = sorted(members, key=lambda member: member.header_offset)
    starts = [*(member.header_offset for member in ordered[1:]), directory]
    for member, following in zip(ordered, starts, strict=False):
        name, extra = _LOCAL_HEADER.unpack_from(source.data, member.header_offset)
        if member.header_offset + _LOCAL_HEADER.size + name + extra + member.compress_size > following:
            raise _over(source, "members that overlap")


def encrypted(source: Source) -> ReadError:
    """Return the error of a file that is locked by a password."""
    return ReadError(f"{source.name}: locked by a password.", "Save a copy without the password.", kind="encrypted")


def _over(source: Source, what: str) -> ReadError:
    return ReadError(f"{source.name}: {what}.", "Split it, or leave it out with .twofoldignore.", kind="limit")
