"""Where indexes are kept: a name under `TWOFOLD_HOME`, a folder, or the address of a database or a bucket."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError, MissingExtraError, NotFoundError, check_kind
from twofold.domain.ports import Store
from twofold.stores.database_address import Address, address_of, is_address, with_index
from twofold.stores.local.catalog import is_catalog
from twofold.stores.local.place import real_folder
from twofold.stores.local.removal import remove
from twofold.stores.missing import MissingStore
from twofold.system.paths import SEPARATORS

if TYPE_CHECKING:
    from twofold.stores.postgres.store import PostgresStore
    from twofold.stores.s3.store import S3Store

INDEX_FOLDER = "indexes"
DATABASE_FOLDER = "databases"
SEGMENT_CACHE = "segments"
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
MAX_NAME_LENGTH = 64


def folder_of(where: str | Path, home: Path) -> Path:
    """Return the folder of an index with all links resolved, so that all spellings of it name one index.

    A path is taken as it is, a name lives under `home`; so does what this machine keeps of an index in a database.
    Raises InvalidInputError for a name that could be mistaken for anything else than a name, NotFoundError for a link
    that leads nowhere.
    """
    if isinstance(where, str) and is_address(where):
        return home / DATABASE_FOLDER / address_of(where).key
    return real_folder(folder_as_written(where, home))


def folder_as_written(where: str | Path, home: Path) -> Path:
    """Return the folder of an index as it is spelled; errors as for `folder_of`, but links are left alone."""
    check_kind("The name of an index", where, str | Path, "Give a name such as 'notes', or a path.")
    if isinstance(where, Path) or where.startswith((".", "~")) or not SEPARATORS.isdisjoint(where):
        return Path(where).expanduser().absolute()
    return home / INDEX_FOLDER / checked_name(where)


def checked_name(name: str) -> str:
    """Return the name of an index. Raises InvalidInputError for what cannot be one."""
    if not name or len(name) > MAX_NAME_LENGTH or not NAME_CHARACTERS.issuperset(name):
        raise InvalidInputError(
            f"{name!r} cannot be the name of an index.",
            "Use up to 64 letters, digits, `.`, `_` and `-`; or give a path that begins with `./`.",
        )
    return name


def shown_place(where: str | Path, home: Path) -> str:
    """Return where an index is kept, for people: its folder, or the address of its database without the password."""
    if isinstance(where, str) and is_address(where):
        return address_of(where).shown
    return str(folder_of(where, home))


def shown_name(where: str | Path) -> str:
    """Return what an index is called, for people; of an address without the password."""
    return address_of(where).shown if isinstance(where, str) and is_address(where) else str(where)


def short_name(where: str | Path) -> str:
    """Return what an index is called among several: its name, of one in a database without the database."""
    return address_of(where).index if isinstance(where, str) and is_address(where) else str(where)


def is_there(where: str | Path, settings: Settings) -> bool:
    """Return whether there is such an index. Raises StoreError where a database cannot be asked."""
    if isinstance(where, str) and is_address(where):
        address = address_of(where)
        return _bucket().is_there(address) if address.in_bucket else address.index in index_names(where, settings)
    return is_catalog(folder_of(where, settings.home))


def index_names(root: str | None, settings: Settings) -> Sequence[str]:
    """Name the indexes in a database, or with None those that live under `TWOFOLD_HOME`."""
    if root is not None:
        return _remote(address_of(root)).names(address_of(root))
    folder = settings.home / INDEX_FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path.name for path in found if is_catalog(path) and not path.name.startswith("."))  # one being made


def named_in(root: str | None, name: str) -> str:
    """Return what names an index of a database, or with None of those under `TWOFOLD_HOME`."""
    return name if root is None else with_index(root, checked_name(name))


def open_in_database(where: str, settings: Settings, *, create: bool) -> Store:
    """Open an index in a database or a bucket. With `create`, one that is not there is made by the first change."""
    address = address_of(where)
    checked_name(address.index)

    def opened(create: bool) -> Store:  # noqa: FBT001  # a callback's
        cache = _cache_of(address, settings)
        return _remote(address)(address, create=create, wait_seconds=settings.timeouts.write, cache=cache)

    try:
        return opened(create=False)
    except NotFoundError:
        if not create:
            raise
        return MissingStore(opened)


def making_in_database(where: str, settings: Settings) -> AbstractContextManager[Store]:
    """Return what yields a new index in a database, which gets its name when all went well.

    Raises InvalidInputError for a name that is taken, or that could be mistaken for anything else than a name.
    """
    address = address_of(where)
    checked_name(address.index)
    return _remote(address).making(address, settings.timeouts.write, _cache_of(address, settings))


class Closable(Protocol):
    """Something that goes on until it is closed."""

    def close(self) -> None:
        """End it."""


def watch_changes(root: str | None, names: Callable[[], Collection[str]], changed: Callable[[str], None]) -> Closable:
    """Have a function called with the name of each index that another process has changed, of those that matter.

    Only a database tells; elsewhere nothing is called.
    """
    if root is None or address_of(root).in_bucket:
        return ExitStack()
    return _postgres().notices(address_of(root), names, changed)


def not_notified(where: str) -> str | None:
    """Return why a server of a database would not be notified of changes, empty where it would be; else None."""
    if not is_address(where) or address_of(where).in_bucket:
        return None
    return _postgres().unheard(address_of(where))


def _cache_of(address: Address, settings: Settings) -> Path:
    folder = settings.home / DATABASE_FOLDER
    return folder if address.in_bucket else folder / SEGMENT_CACHE


def remove_index(where: str | Path, settings: Settings) -> None:
    """Delete an index that is closed, for good."""
    if isinstance(where, str) and is_address(where):
        _remote(address_of(where)).drop(address_of(where), settings.timeouts.write)
    else:
        remove(folder_as_written(where, settings.home), settings.timeouts.write)


def _remote(address: Address) -> "type[PostgresStore | S3Store]":
    """Return the store for an address. Raises MissingExtraError where its client is not installed."""
    return _bucket() if address.in_bucket else _postgres()


def _bucket() -> "type[S3Store]":
    """Return the store in a bucket. Raises MissingExtraError where its client is not installed."""
    try:
        from twofold.stores.s3.store import S3Store
    except ImportError as error:
        raise MissingExtraError("The client for S3 is not installed.", "Run `pip install 'twofold[s3]'`.") from error
    return S3Store


def _postgres() -> "type[PostgresStore]":
    """Return the store in a database. Raises MissingExtraError where its client is not installed."""
    try:
        from twofold.stores.postgres.store import PostgresStore
    except ImportError as error:
        raise MissingExtraError(
            "The client for PostgreSQL is not installed.", "Run `pip install 'twofold[postgres]'`."
        ) from error
    return PostgresStore
