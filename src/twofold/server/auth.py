"""Access tokens: random secrets that are shown once, kept as hashes, and good for some actions on some indexes.

A token reads `tf_ID_SECRET`; the id finds its record, the secret of 256 bits is compared in constant time. Its SHA-256
alone is kept, in one file that its owner alone may read. A changed file holds from the next request on. Revoked tokens
stay on record, so that a server whose last token was revoked does not stand open.
"""

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec

from twofold.domain.access import principal
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError
from twofold.stores.local.durable import make_folder, write_durably
from twofold.stores.local.lock import WriterLock

ALL = "*"
EVERY_DOCUMENT = "*"
"""In place of principals: its holder may read every document."""
SECRET_BYTES = 32
MAX_PRESENTED_LENGTH = 200
MAX_TOKEN_NAME_LENGTH = 100
INDEX_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_PRESENTED = re.compile(r"tf_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = "0" * 64


class Action(StrEnum):
    """What may be done; each allows what stands before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


RANKS = {action: rank for rank, action in enumerate(Action)}


@dataclass(frozen=True, slots=True)
class Scope:
    """One action, and the index it may be done to; `*` for every index and for the server itself."""

    action: Action
    index: str = ALL

    def __str__(self) -> str:
        return f"{self.action.value}:{self.index}"


@dataclass(frozen=True, slots=True)
class Grant:
    """What somebody may do. `id` is the token's; a caller without a token has none.

    `principals` say which documents it may read, None for every document.
    """

    name: str
    scopes: tuple[Scope, ...]
    id: str = ""
    principals: tuple[str, ...] | None = None

    def conversation(self, session: str) -> str:
        """Return the name by which a conversation is kept: no other token's, whatever either is called.

        >>> Grant("laptop", (), id="613d1c6fcc24").conversation("x/s2")
        '613d1c6fcc24/x/s2'
        """
        return f"{self.id}/{session}"  # an id is hexadecimal digits alone, so the first slash ends it

    def allows_somewhere(self, action: Action) -> bool:
        """Return whether an action is allowed on some index."""
        return any(RANKS[scope.action] >= RANKS[action] for scope in self.scopes)

    def allows(self, action: Action, index: str = ALL) -> bool:
        """Return whether an action on an index is allowed; on `*` where it concerns all of them or the server."""
        return any(RANKS[scope.action] >= RANKS[action] and scope.index in (ALL, index) for scope in self.scopes)


EVERYTHING_GRANTED = Grant("this machine", (Scope(Action.ADMIN),))
"""What everybody may do who reaches a server on loopback for which no token was ever made."""


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is kept of a token. Times are in UTC, ISO 8601; `revoked` is empty while it is good."""

    id: str
    name: str
    hashed: str
    scopes: tuple[Scope, ...]
    created: str
    revoked: str = ""
    principals: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _File:
    tokens: tuple[TokenRecord, ...] = ()
    version: int = 1


_Stamp = tuple[int, int, int]


class TokenStore:
    """The tokens of one home folder. Safe to use from several threads and processes."""

    def __init__(self, home: Path, wait_seconds: float = 5.0) -> None:
        self._path = home / "tokens.json"
        self._wait_seconds = wait_seconds
        self._turn = threading.Lock()
        self._seen: tuple[_Stamp | None, _File] = (None, _File())

    @property
    def in_use(self) -> bool:
        """Whether a token was ever made. Raises CorruptError when the file cannot be read."""
        return bool(self._read().tokens)

    def records(self) -> Sequence[TokenRecord]:
        """List all tokens, the revoked ones too, in the order in which they were made."""
        return self._read().tokens

    def create(
        self, name: str, scopes: Sequence[Scope], principals: Iterable[str] | None = None
    ) -> tuple[TokenRecord, str]:
        """Make a token; give its record and the token itself, which nobody can give again.

        `principals` are those of its holder; None, or `*` among them, lets it read every document.

        Raises InvalidInputError for a name of no characters or more than 100, no scopes, or an invalid index.
        """
        _check(name, scopes)
        secret = secrets.token_urlsafe(SECRET_BYTES)
        held = None if principals is None else tuple(sorted({checked_principal(one) for one in principals}))
        record = TokenRecord(secrets.token_hex(6), name, _hashed(secret), tuple(scopes), _now(), principals=held)
        with self._changing() as before:
            self._write(replace(before, tokens=(*before.tokens, record)))
        return record, f"tf_{record.id}_{secret}"

    def revoke(self, identity: str) -> TokenRecord:
        """Make a token worthless from now on. Raises NotFoundError for an id that no good token has."""
        with self._changing() as held:
            found = next((one for one in held.tokens if one.id == identity and not one.revoked), None)
            if found is None:
                raise unknown_token(identity)
            ended = replace(found, revoked=_now())
            self._write(replace(held, tokens=tuple(ended if one is found else one for one in held.tokens)))
        return ended

    def grant_for(self, presented: str) -> Grant | None:
        """Return what a token allows, None for one that is wrong or revoked."""
        shape = _PRESENTED.fullmatch(presented[:MAX_PRESENTED_LENGTH])
        identity, secret = shape.groups() if shape else ("", "")
        record = next((one for one in self._read().tokens if one.id == identity), None)
        same = hmac.compare_digest(record.hashed if record else _NOBODY, _hashed(secret))
        if record is None or not same or record.revoked:
            return None
        return Grant(record.name, record.scopes, record.id, record.principals)

    @contextmanager
    def _changing(self) -> Iterator[_File]:
        """Hold the file's lock, and yield what the file holds."""
        make_folder(self._path.parent)
        with WriterLock(self._path.with_name("tokens.lock"), self._wait_seconds).locked():
            yield self._read()

    def _read(self) -> _File:
        stamp = _stamp_of(self._path)
        with self._turn:
            if stamp != self._seen[0]:
                self._seen = (stamp, _decoded(self._path) if stamp else _File())
            return self._seen[1]

    def _write(self, held: _File) -> None:
        write_durably(self._path, [msgspec.json.encode(held)])


def parse_scope(text: str) -> Scope:
    """Read `read`, `write:notes` or `admin:*`. Raises InvalidInputError.

    >>> parse_scope("write:notes")
    Scope(action=<Action.WRITE: 'write'>, index='notes')
    """
    action, _, index = text.partition(":")
    if action not in tuple(Action):
        raise InvalidInputError(f"{text!r} is no scope.", "Write read, write or admin, and an index: read:notes.")
    return Scope(Action(action), index or ALL)


def checked_principal(text: str) -> str:
    """Return a token's principal, or `*` for every document. Raises InvalidInputError."""
    return text if text == EVERY_DOCUMENT else principal(text)


def _check(name: str, scopes: Sequence[Scope]) -> None:
    if not name.strip() or len(name) > MAX_TOKEN_NAME_LENGTH or not name.isprintable():
        raise InvalidInputError("A token needs a name of 1 to 100 characters.", "Say whose it is: --name laptop.")
    if not scopes:
        raise InvalidInputError("A token without a scope is good for nothing.", "Give one: --scope read:notes.")
    for scope in scopes:
        if scope.index != ALL and not INDEX_NAME.fullmatch(scope.index):
            raise InvalidInputError(f"{scope.index!r} cannot be the name of an index.", "Name one, or `*` for all.")


def _stamp_of(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorruptError(
            f"The tokens cannot be read: {error.strerror}.", "Check the folder's permissions."
        ) from error
    return status.st_mtime_ns, status.st_size, status.st_ino


def _decoded(path: Path) -> _File:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise CorruptError("The file of tokens is damaged.", "Delete tokens.json and make new ones.") from error


def unknown_token(identity: str) -> NotFoundError:
    """Return the error for a token that is not there, or not good any more."""
    return NotFoundError(f"There is no token {identity!r} that is good.", "`twofold token list` shows them.")


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
