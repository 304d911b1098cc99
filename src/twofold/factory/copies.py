"""Making an index of a snapshot or of an exported file: it is there whole under its name, or not at all."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp

from twofold.config.load import Settings, resolve
from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError, TwofoldError
from twofold.domain.ports import IndexFingerprint, Store
from twofold.domain.types import Entry
from twofold.factory.places import folder_as_written, making_in_database
from twofold.query.synonyms import read_rules
from twofold.stores.database_address import is_address
from twofold.stores.export_file import ExportReader, check_whole, entries_of, write_export
from twofold.stores.local.durable import make_folder, refusal
from twofold.stores.local.lock import WriterLock
from twofold.stores.local.place import LOCK_NAME
from twofold.stores.local.store import LocalStore
from twofold.system.files import flush_folder

MAKING = ".making-"
DOCUMENT_BATCH_SIZE = 64


def copy_index(store: Store, where: str | Path, settings: Settings) -> None:
    """Make an index of everything that a store holds. Raises InvalidInputError when the name is taken."""
    with store.view() as view, _new_index(where, settings) as made:
        _fill(made, view.fingerprint, (store.get_settings(), view.synonyms), entries_of(view))


def export_index(store: Store, path: Path) -> str:
    """Write everything that a store holds to a new file; return its SHA-256.

    Raises InvalidInputError for a file that is there, StorageFullError, StoreError; then no file is left.
    """
    if os.path.lexists(path):
        raise InvalidInputError(f"There is a file {path} already.", "Name a new file, or delete that one.")
    unfinished = path.with_name(f".{path.name}{MAKING}{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            with store.view() as view:
                checksum = write_export(view, store.get_settings(), file.write)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        raise refusal(error, str(path)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return checksum


def import_index(path: Path, where: str | Path, settings: Settings) -> None:
    """Make an index of an exported file. What the file says is data, and is checked as it is read.

    Raises NotFoundError, CorruptError, MismatchError for a file of another format, InvalidInputError when the name is
    taken.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.", "Name a file that `twofold index export` wrote.")
    with path.open("rb") as file:
        check_whole(file)
        reader = ExportReader(file, path.stat().st_size)
        head = reader.header
        resolve(collection=head.settings)  # an index whose settings nobody knows could not be opened
        with _new_index(where, settings) as made:
            _fill(made, head.fingerprint, (head.settings, head.synonyms), reader.entries())
            held = made.info()
            if (held.documents, held.chunks) != (head.documents, head.chunks):
                raise CorruptError(
                    f"The file holds {held.documents} documents of {held.chunks} passages where it counts"
                    f" {head.documents} of {head.chunks}.",
                    "Export it again.",
                )


def _fill(
    made: Store,
    fingerprint: IndexFingerprint | None,
    kept: tuple[Mapping[str, str], str],
    entries: Iterable[Entry],
) -> None:
    """Fill a new store; `kept` are the settings and the synonyms that the index keeps."""
    if fingerprint is not None:
        made.ensure_fingerprint(fingerprint)
    rest = iter(entries)
    while some := list(islice(rest, DOCUMENT_BATCH_SIZE)):
        made.upsert(some)
    made.set_settings(kept[0])
    if kept[1]:
        read_rules(kept[1])  # raises InvalidInputError for rules that no search could follow
        made.set_synonyms(kept[1])


def _new_index(where: str | Path, settings: Settings) -> AbstractContextManager[Store]:
    """Return what yields the store of a new index; it gets its name when all went well, and is deleted when not."""
    if isinstance(where, str) and is_address(where):
        return making_in_database(where, settings)
    return _new_folder(where, settings)


@contextmanager
def _new_folder(where: str | Path, settings: Settings) -> Iterator[LocalStore]:
    folder = folder_as_written(where, settings.home)
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInputError(f"There is an index or a file {where} already.", "Choose another name.")
    make_folder(folder.parent)
    for left_over in folder.parent.glob(f".{folder.name}{MAKING}*"):
        if not left_over.is_symlink():
            with suppress(TwofoldError), WriterLock(left_over / LOCK_NAME, 0.0).locked():
                shutil.rmtree(left_over, ignore_errors=True)  # one that another process is making stays
    unfinished = Path(mkdtemp(prefix=f".{folder.name}{MAKING}", dir=folder.parent))
    store = LocalStore(unfinished)
    try:
        with store.alone():
            try:
                yield store
            finally:
                store.close()
            os.replace(unfinished, folder)  # noqa: PTH105  # refuses a folder that holds something by now
            flush_folder(folder.parent)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise refusal(error, str(folder)) from error
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
