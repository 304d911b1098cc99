"""An index on a read-only or a full disk: it can be verified and looked at where it lies."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reliability.processes import NEW_MOUNTS, PRIVATE_MOUNTS
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.place import CATALOG_NAME, LOCK_NAME

READ_ONLY, REMOUNT, BIND = 0x1, 0x20, 0x1000  # of <sys/mount.h>
DAMAGED = 7
NOT_PERMITTED = 77
READING = (("index", "verify", "notes"), ("doctor",), ("search", "tower", "-i", "notes"), ("ls", "-i", "notes"))


def mount(source: bytes, target: Path, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    system = ctypes.CDLL(None, use_errno=True)
    if system.mount(source, bytes(target), kind, flags, options):
        os._exit(NOT_PERMITTED)


def own_mounts() -> None:
    """Let what is mounted from here on be seen by this process and its children alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_MOUNTS):
        os._exit(NOT_PERMITTED)
    mount(b"none", Path("/"), None, PRIVATE_MOUNTS)


def read_only(folder: Path) -> Callable[[], None]:
    def prepare() -> None:
        own_mounts()
        mount(bytes(folder), folder, None, BIND)
        mount(b"none", folder, None, BIND | REMOUNT | READ_ONLY)

    return prepare


def full(folder: Path) -> Callable[[], None]:
    def prepare() -> None:
        own_mounts()
        kept = folder.with_name(f"{folder.name}-kept")
        shutil.copytree(folder, kept)
        mount(b"tmpfs", folder, b"tmpfs", 0, b"size=1m")
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        with (folder / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError:
                return

    return prepare


@pytest.fixture
def home() -> Path:
    """A home with an index whose log is not empty, as a crash leaves it."""
    home = Path(os.environ["TWOFOLD_HOME"])
    folder = home / "indexes" / "notes"
    index = Index("notes", embedder=HashingEmbedder())
    index.add("The Eiffel tower stands in Paris.", source="tower.txt")
    shutil.copytree(folder, home / "crashed")
    index.close()
    shutil.rmtree(folder)
    (home / "crashed").rename(folder)
    (folder / LOCK_NAME).unlink()
    assert (folder / f"{CATALOG_NAME}-wal").stat().st_size > 0
    return home


def ran(prepare: Callable[[], None], *words: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": "hashing", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "twofold", *words]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False, preexec_fn=prepare)
    if done.returncode == NOT_PERMITTED:
        pytest.skip("mounting needs rights that this process does not have")
    return done


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("disk", [read_only, full])
def test_what_only_reads_works(home: Path, disk: Callable[[Path], Callable[[], None]], words: tuple[str, ...]) -> None:
    done = ran(disk(home), *words)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail" not in done.stdout


@pytest.mark.parametrize("disk", [read_only, full])
def test_damage_is_found_there_too(home: Path, disk: Callable[[Path], Callable[[], None]]) -> None:
    with Index("notes", embedder=HashingEmbedder()) as index:
        index.compact()
        (segment,) = (home / "indexes" / "notes" / "segments").iterdir()
        segment.write_bytes(b"x" * segment.stat().st_size)

    done = ran(disk(home), "index", "verify", "notes")
    assert done.returncode == DAMAGED, done.stdout + done.stderr
    assert "fails its checksum" in done.stdout


def test_a_copy_without_its_log_is_read_where_nothing_can_be_written(home: Path) -> None:
    folder = home / "indexes" / "notes"
    with Index("notes", embedder=HashingEmbedder()) as index:
        index.compact()
    for path in folder.glob(f"{CATALOG_NAME}-*"):
        path.unlink()

    for words in READING:
        done = ran(read_only(home), *words)
        assert done.returncode == 0, done.stdout + done.stderr
