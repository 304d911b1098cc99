"""Blocks of the catalog by their digests: in memory, in a folder of this machine, else from the bucket."""

import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from twofold.domain.errors import CorruptError, TwofoldError
from twofold.stores.local.durable import make_folder
from twofold.stores.s3.bucket import Bucket
from twofold.stores.s3.head import BLOCK_BYTES, Ref, digest_of
from twofold.system.files import open_plain

BLOCKS_IN_MEMORY = 512  # 64 MB
PREFETCHED_BYTES = 64 * 1024**2
MAX_CONCURRENT_REQUESTS = 8


class Blocks:
    """Reads blocks and keeps what it has read. The folder is shared by all indexes and processes of the machine.

    Without a folder, or where it cannot be written, blocks are kept in memory alone. It holds about `most` bytes.
    """

    def __init__(self, bucket: Bucket, folder: Path | None, most: int) -> None:
        self._bucket = bucket
        self._folder = folder
        self._most = most
        self._lock = threading.Lock()
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._here: set[str] = set()
        self._added = 0
        self._look()

    def read(self, ref: Ref) -> bytes:
        """Return a block. Raises CorruptError for one that is not what was written, StoreError."""
        with self._lock:
            held = self._memory.get(ref.digest)
            if held is not None:
                self._memory.move_to_end(ref.digest)
                return held
        data = self._from_folder(ref)
        if data is None:
            data = self.fetch(ref)
            self.keep(ref, data)
        else:
            self._remember(ref, data)
        return data

    def fetch(self, ref: Ref) -> bytes:
        """Return an object as the bucket holds it; errors as for `read`."""
        data = self._bucket.get(ref.key)
        if len(data) != ref.length or digest_of(data) != ref.digest:
            raise CorruptError(
                f"An object of the index, {ref.key}, fails its checksum.",
                "Restore it, where the bucket keeps versions; or sync into a new index.",
            )
        return data

    def keep(self, ref: Ref, data: bytes) -> None:
        """Keep a block that was read or written."""
        self._remember(ref, data)
        path = self._path(ref)
        if path is None:
            return
        beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(data)
            beside.replace(path)
        except OSError:
            with suppress(OSError):
                beside.unlink()
            return
        with self._lock:
            self._here.add(path.name)
            self._added += len(data)
            grown = self._added > self._most // 16
        if grown:
            self._look()

    def prefetch(self, refs: Iterable[Ref]) -> None:
        """Read what is not here yet, several at once; of a large catalog nothing, but what is asked for later."""
        missing = [one for one in refs if one.digest not in self._memory and one.digest.hex() not in self._here]
        if 1 < len(missing) <= PREFETCHED_BYTES // BLOCK_BYTES:
            with ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS) as pool:
                list(pool.map(self.read, missing))

    def _remember(self, ref: Ref, data: bytes) -> None:
        with self._lock:
            self._memory[ref.digest] = data
            while len(self._memory) > BLOCKS_IN_MEMORY:
                self._memory.popitem(last=False)

    def _from_folder(self, ref: Ref) -> bytes | None:
        """Return a block that is in the folder and sound."""
        path = self._path(ref)
        if path is None:
            return None
        try:
            with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
                data = file.read(BLOCK_BYTES + 1)
            os.utime(path)
        except OSError:
            return None
        return data if digest_of(data) == ref.digest else None

    def _path(self, ref: Ref) -> Path | None:
        return None if self._folder is None else self._folder / ref.digest.hex()

    def _look(self) -> None:
        """See which blocks the folder holds, and let the least recently read go while it is too large."""
        if self._folder is None:
            return
        try:
            make_folder(self._folder)
        except TwofoldError:
            self._folder = None
            return
        held = []
        for path in self._folder.iterdir():
            with suppress(OSError):
                found = path.stat()
                held.append((found.st_mtime_ns, found.st_size, path))
        total = sum(size for _, size, _ in held)
        here = {path.name for _, _, path in held}
        for _, size, path in sorted(held):
            if total <= self._most:
                break
            with suppress(OSError):
                path.unlink()
                total -= size
                here.discard(path.name)
        with self._lock:
            self._here, self._added = here, 0
