"""The indexes that the server speaks for: those under the home folder, by name, each opened once.

A name is checked against one pattern and never becomes another path. An index in use is held: it is closed or
deleted when nobody does.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field

from twofold.config.load import Settings
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError, StoreError, WriterBusyError
from twofold.factory.indexing import indexing_components
from twofold.factory.places import Closable, index_names, is_there, named_in, watch_changes
from twofold.factory.search import MEMORY, open_store
from twofold.index import Index
from twofold.indexing.types import IndexInfo
from twofold.server.auth import INDEX_NAME

DROP_SECONDS = 10.0


@dataclass(slots=True)
class _Open:
    """An index that is open or about to be, and how many use it."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    index: Index | None = None
    users: int = 0
    leaving: bool = False


class IndexPool:
    """Opens indexes by name and closes them all at the end. Safe to use from several threads.

    `opener` opens one that exists by its name; it is never given anything but a name, or with a `database`, which is
    the address of one, that address with a name.
    """

    def __init__(self, settings: Settings, opener: Callable[[str], Index], database: str | None = None) -> None:
        self._listener: Callable[[Mapping[str, float]], None] | None = None
        self._settings = settings
        self._database = database
        self._opener = opener
        self._changed = threading.Condition()
        self._open: dict[str, _Open] = {}
        self._closed = False
        self._watch: Closable = ExitStack()

    def follow(self) -> None:
        """Load what other processes write to open indexes when they do, until all is closed."""
        self._watch = watch_changes(self._database, lambda: [name for name, _ in self.opened()], self._load_changes)

    def listen(self, listener: Callable[[Mapping[str, float]], None]) -> None:
        """Have a function called with the milliseconds of the stages of each search, in any index opened from now."""
        self._listener = listener

    @property
    def settings(self) -> Settings:
        """The settings that indexes are made and opened with."""
        return self._settings

    def names(self) -> Sequence[str]:
        """Name the indexes there are."""
        return [name for name in index_names(self._database, self._settings) if INDEX_NAME.fullmatch(name)]

    def create(self, name: str, settings: Settings) -> None:
        """Make an empty index. Raises InvalidInputError for an invalid name, or one that is taken."""
        where = named_in(self._database, _checked(name))
        if self.exists(name):
            raise InvalidInputError(f"There is an index {name} already.", "Choose another name, or delete it first.")
        fingerprint = indexing_components(open_store(MEMORY, settings, create=True), settings, None).fingerprint
        store = open_store(where, settings, create=True)
        try:
            store.ensure_fingerprint(fingerprint)
        finally:
            store.close()

    @contextmanager
    def open_index(self, name: str, as_of: str = "") -> Iterator[Index]:
        """Hold an index open, or as it was at a snapshot. Raises NotFoundError, and what opening it raises."""
        entry = self._enter(_checked(name))
        try:
            with entry.turn:
                if entry.index is None:
                    entry.index = self._opener(named_in(self._database, name))
                    entry.index.searcher.use_own_models_only()  # whatever a request or its profile names
                    if self._listener is not None:
                        entry.index.searcher.listen(self._listener)
                opened = entry.index
            if not as_of:
                yield opened
                return
            with opened.at(as_of) as past:
                past.searcher.use_own_models_only()
                yield past
        finally:
            self._leave(name, entry)

    def exists(self, name: str) -> bool:
        """Return whether there is an index of this name. Raises InvalidInputError for an invalid name."""
        return is_there(named_in(self._database, _checked(name)), self._settings)

    def branch(self, name: str, as_of: str, new: str) -> IndexInfo:
        """Make a new index of one, as it is or as it was at a snapshot. Raises as `held` and `Index.branch` do."""
        with self.open_index(name, as_of) as opened:
            opened.branch(named_in(self._database, _checked(new)))
        return self.info(new)

    def info(self, name: str) -> IndexInfo:
        """Describe an index. Raises as `held` does."""
        with self.open_index(name) as opened:
            return opened.info()

    def drop(self, name: str) -> None:
        """Delete an index once nobody uses it. Raises NotFoundError, WriterBusyError when it stays in use."""
        entry = self._leave_alone(name)
        try:
            if entry.index is not None:
                entry.index.drop()
        finally:
            with self._changed:
                self._open.pop(name, None)

    def reopen(self, name: str) -> None:
        """Close an index, so that the next request opens it with the settings that it keeps by then.

        Raises NotFoundError, WriterBusyError when it stays in use.
        """
        entry = self._leave_alone(name)
        try:
            if entry.index is not None:
                entry.index.close()
        finally:
            with self._changed:
                self._open.pop(name, None)

    def opened(self) -> Sequence[tuple[str, Index]]:
        """Return those that are open now."""
        with self._changed:
            return [(name, entry.index) for name, entry in sorted(self._open.items()) if entry.index is not None]

    def close(self) -> None:
        """Close all; what is asked from now on is refused."""
        self._watch.close()
        with self._changed:
            self._closed = True
            entries = list(self._open.values())
            self._open.clear()
        for entry in entries:
            if entry.index is not None:
                entry.index.close()

    def _load_changes(self, name: str) -> None:
        with self._changed:
            entry = self._open.get(name)
            if entry is None or entry.index is None or entry.leaving:
                return
            entry.users += 1
        try:
            entry.index.load_changes()
        finally:
            self._leave(name, entry)

    def _leave_alone(self, name: str) -> _Open:
        """Wait until nobody uses an index, and let nobody begin. Raises as `drop` does."""
        with self.open_index(name):
            pass
        with self._changed:
            entry = self._open.get(name)
            if entry is None or entry.index is None or entry.leaving:
                raise _missing(name)
            entry.leaving = True
            if not self._changed.wait_for(lambda: not entry.users, DROP_SECONDS):
                entry.leaving = False
                raise WriterBusyError(f"The index {name} is in use.", "Try again when the other request has finished.")
            return entry

    def _enter(self, name: str) -> _Open:
        with self._changed:
            if self._closed:
                raise StoreError("The server is closing.", "Ask again when it is back.")
            if name not in self._open and not is_there(named_in(self._database, name), self._settings):
                raise _missing(name)
            entry = self._open.setdefault(name, _Open())
            if entry.leaving:
                raise _missing(name)
            entry.users += 1
            return entry

    def _leave(self, name: str, entry: _Open) -> None:
        with self._changed:
            entry.users -= 1
            if entry.index is None and not entry.users:  # it could not be opened
                self._open.pop(name, None)
            self._changed.notify_all()


def _checked(name: str) -> str:
    if not INDEX_NAME.fullmatch(name):
        raise InvalidInputError(
            "That cannot be the name of an index.", "Use up to 64 letters, digits, `.`, `_` and `-`."
        )
    return name


def _missing(name: str) -> NotFoundError:
    return NotFoundError(f"There is no index {name!r}.", "`GET /v1/indexes` lists those there are.")
