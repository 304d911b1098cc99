"""Hears of changes to the indexes of a database, so that a server loads them before somebody asks.

What a question sees does not depend on it: it reads the state in the transaction that fetches its passages.
"""

import logging
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg

from twofold.domain.errors import TwofoldError
from twofold.stores.database_address import Address
from twofold.stores.postgres.connection import CHANNEL, connect, failures, schema_of
from twofold.stores.postgres.registry import index_numbers

JOIN_SECONDS = 3.0
_HELLO = "hello-"

logger = logging.getLogger(__name__)


class NoticePace(NamedTuple):
    """Seconds: `hello` for a first notification, `poll` between two looks without them, `again` until they are tried.

    `gap` is how long changes are gathered before they are passed on, `reconnect` how long after a lost connection.
    """

    hello: float = 2.0
    poll: float = 2.0
    again: float = 300.0
    gap: float = 0.1
    reconnect: float = 1.0


PACE = NoticePace()


class Notices:
    """A thread with one connection, which calls `changed` with the name of each index that has changed.

    `names` says which indexes matter. Where notifications do not arrive, as behind a pooler in transaction mode and on
    a replica, it asks each of them for its generation. A lost connection is made again, and all that matter count as
    changed.
    """

    def __init__(
        self,
        address: Address,
        names: Callable[[], Collection[str]],
        changed: Callable[[str], None],
        pace: NoticePace = PACE,
    ) -> None:
        self._address, self._names, self._changed, self._pace = address, names, changed, pace
        self._wake, self._waken = socket.socketpair()
        self._closing = threading.Event()
        self._said = ""
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread and its connection."""
        self._closing.set()
        self._waken.send(b".")
        self._thread.join(JOIN_SECONDS)  # it may be connecting to a server that does not answer
        if not self._thread.is_alive():
            self._wake.close()
            self._waken.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                with failures(), connect(self._address.dsn) as connection:
                    missing = unheard(connection, self._address, self._pace.hello)
                    self._tell(missing)
                    self._pass_on(self._names())
                    if missing:
                        self._poll(connection)
                    else:
                        self._listen(connection)
            except TwofoldError as error:
                logger.info("No notifications for now: %s", error.message)
                self._pause(self._pace.reconnect)

    def _tell(self, missing: str) -> None:
        """Log once how changes are heard of, and again when that has changed."""
        says = f"asks for changes every {self._pace.poll:g} s: {missing}" if missing else "is notified of changes"
        if says != self._said:
            self._said = says
            logger.log(logging.WARNING if missing else logging.INFO, "%s %s.", self._address.database, says)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        heard: list[str] = []
        connection.add_notify_handler(lambda notice: heard.append(notice.payload))
        while self._pause(None, connection) and self._pause(self._pace.gap):
            numbers = index_numbers(connection)  # which reads what was notified of as well
            changed, heard[:] = set(heard), []
            self._pass_on([name for name in self._names() if str(numbers.get(name)) in changed])

    def _poll(self, connection: psycopg.Connection[Any]) -> None:
        seen: dict[str, int] = {}
        until = time.monotonic() + self._pace.again
        while time.monotonic() < until and self._pause(self._pace.poll):
            numbers, matter = index_numbers(connection), self._names()
            found = {name: _generation(connection, numbers[name]) for name in matter if name in numbers}
            self._pass_on([name for name, generation in found.items() if seen.get(name) != generation])
            seen = found

    def _pass_on(self, names: Collection[str]) -> None:
        for name in names:
            with suppress(TwofoldError):  # who asks next meets the same
                self._changed(name)

    def _pause(self, seconds: float | None, connection: psycopg.Connection[Any] | None = None) -> bool:
        """Wait, with a connection until it has something to say; return false when all ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            if connection is not None:
                selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.select(seconds)
        return not self._closing.is_set()


def unheard(connection: psycopg.Connection[Any], address: Address, seconds: float) -> str:
    """Listen, and return why notifications do not arrive here; empty where one that another connection sent does."""
    hello = _HELLO + secrets.token_hex(8)
    try:
        connection.execute(f"LISTEN {CHANNEL}", prepare=False)
    except psycopg.DatabaseError as error:
        if connection.broken:
            raise
        return (error.diag.message_primary or type(error).__name__).strip()
    with connect(address.dsn) as other:
        other.execute("SELECT pg_notify($1, $2)", [CHANNEL, hello])
    for notice in connection.notifies(timeout=seconds):
        if notice.payload == hello:
            return ""
    return "notifications do not arrive, as behind a pooler in transaction mode"


def notification_problem(address: Address) -> str:
    """Return why a server of this database would not be notified of changes; empty where it would be."""
    with failures(), connect(address.dsn) as connection:
        return unheard(connection, address, PACE.hello)


def _generation(connection: psycopg.Connection[Any], number: int) -> int:
    try:
        row = connection.execute(f"SELECT generation FROM {schema_of(number)}.state").fetchone()  # noqa: S608  # a number
    except psycopg.errors.UndefinedTable:  # dropped meanwhile
        return -1
    return int(row[0]) if row else -1
