"""The tree of errors: each says what is wrong, how to fix it, and its code for a shell and for an HTTP client.

    TwofoldError                      exit  http
    ├── InvalidInputError                2   400   an argument, a query, a setting
    │   └── NotAllowedError              2   403   only who may read everything can do it
    ├── NotFoundError                    3   404   an index, a document, a file, a model's name
    ├── MismatchError                    4   409   the collection was built with other parts
    ├── WriterBusyError                  5   423   another process is writing
    ├── StorageFullError                 6   507   no room; nothing acknowledged was lost
    ├── CorruptError                     7   500   a checksum or a cross-check failed
    ├── ModelError                       8   503   a model cannot be downloaded, loaded or run
    │   ├── MissingExtraError            8   501   an optional dependency is not installed
    │   ├── ModelUnavailableError        8   503   a model does not answer now; it may when it is asked again
    │   └── StageTimeoutError            8   504   a stage took longer than it may
    ├── ReadError                        9   422   a document cannot be read; the others still are
    ├── AccessUnknownError              10   503   it cannot be said who asks; nothing is answered
    ├── PartLostError                   10   503   a part of the index was lost on the way; ask again
    └── StoreError                      10   500   the store failed in a way of its own

Exit status 1 is an unforeseen error, 130 an interruption by the user.
"""

import os
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import ClassVar


class TwofoldError(Exception):
    """Something a user can act upon.

    `message` is one line that says what is wrong, `hint` one line that says what to do about it.
    """

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[type["TwofoldError"], tuple[str, str]]:
        """Cross a process boundary whole."""
        return type(self), (self.message, self.hint)


class InvalidInputError(TwofoldError):
    """An argument, a query or a setting cannot be used as it stands."""

    exit_code = 2
    http_status = 400


class NotAllowedError(InvalidInputError):
    """Somebody who may not read all documents asks for what concerns all of them."""

    http_status = 403


class AccessUnknownError(TwofoldError):
    """It cannot be said who asks, and so not what they may read: nothing is answered."""

    exit_code = 10
    http_status = 503


class NotFoundError(TwofoldError):
    """The thing named does not exist. `what` is `document` where it is one: HTTP and MCP list them in their ways."""

    exit_code = 3
    http_status = 404

    def __init__(self, message: str, hint: str = "", what: str = "") -> None:
        super().__init__(message, hint)
        self.what = what

    def __reduce__(self) -> tuple[type["TwofoldError"], tuple[str, str, str]]:  # type: ignore[override]
        """Cross a process boundary whole."""
        return type(self), (self.message, self.hint, self.what)


DOCUMENT = "document"


def no_document(name: str) -> NotFoundError:
    """Return the error for a name that no document has."""
    return NotFoundError(f"There is no document {name!r}.", "`twofold ls` lists the documents.", DOCUMENT)


class MismatchError(TwofoldError):
    """A collection was built with another embedder, analyzer, chunker or format than it is opened with."""

    exit_code = 4
    http_status = 409


class WriterBusyError(TwofoldError):
    """Another process holds the writer's lock."""

    exit_code = 5
    http_status = 423


class StorageFullError(TwofoldError):
    """The disk, a quota or a file-size limit refused a write; what was acknowledged before is intact."""

    exit_code = 6
    http_status = 507


class CorruptError(TwofoldError):
    """What was read back is not what was written."""

    exit_code = 7
    http_status = 500


class ModelError(TwofoldError):
    """A model cannot be fetched, loaded or run."""

    exit_code = 8
    http_status = 503


class MissingExtraError(ModelError):
    """An optional dependency is needed and not installed."""

    http_status = 501


class ModelUnavailableError(ModelError):
    """A model does not answer now, and may when it is asked again: a server that is gone, busy or broken.

    `retry_after` is how many seconds the server asks to wait, None where it says nothing.
    """

    def __init__(self, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[type["TwofoldError"], tuple[str, str, float | None]]:  # type: ignore[override]
        """Cross a process boundary whole."""
        return type(self), (self.message, self.hint, self.retry_after)


class StageTimeoutError(ModelError):
    """A stage of a search took longer than it may. It is not tried again: who waits has waited long enough."""

    http_status = 504


class ReadError(TwofoldError):
    """A document cannot be read. `kind` is a short stable word for reports: `limit`, `malformed`, `encrypted`."""

    exit_code = 9
    http_status = 422

    def __init__(self, message: str, hint: str = "", kind: str = "malformed") -> None:
        super().__init__(message, hint)
        self.kind = kind

    def __reduce__(self) -> tuple[type["TwofoldError"], tuple[str, str, str]]:  # type: ignore[override]
        """Cross a process boundary whole."""
        return type(self), (self.message, self.hint, self.kind)


class StoreError(TwofoldError):
    """The store failed in a way of its own."""

    exit_code = 10
    http_status = 500


_BY_EXIT_CODE = {
    one.exit_code: one
    for one in (
        InvalidInputError,
        NotFoundError,
        MismatchError,
        WriterBusyError,
        StorageFullError,
        CorruptError,
        ModelError,
        StoreError,
    )
}


def error_of(exit_code: int, message: str, hint: str) -> TwofoldError:
    """Return an error that ends a command with this exit code, as an event of an answer names it."""
    return _BY_EXIT_CODE.get(exit_code, TwofoldError)(message, hint)


class PartLostError(TwofoldError):
    """A part of the index that others search was lost while it was asked; the next view says that it is missing."""

    exit_code = 10
    http_status = 503


def first_line(error: BaseException) -> str:
    """Return the first line of what an error of a library says, without its full stop; its kind where it says nothing.

    >>> first_line(ValueError("No such thing.")), first_line(ValueError())
    ('No such thing', 'ValueError')
    """
    said = str(error).strip()
    return said.splitlines()[0].rstrip(".") if said else type(error).__name__


def check_kind(what: str, given: object, kind: type | UnionType, hint: str) -> None:
    """Raise InvalidInputError for a value of another kind than it must be; truth is no number."""
    if not isinstance(given, kind) or (isinstance(given, bool) and kind is not bool):
        raise InvalidInputError(f"{what} cannot be of the type {type(given).__name__}.", hint)


def check_several(what: str, given: object, hint: str) -> None:
    """Raise InvalidInputError for one text where several stand, and for what cannot be gone through."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{what} cannot be of the type {type(given).__name__}.", hint)


def check_table(what: str, given: object, hint: str) -> None:
    """Raise InvalidInputError for what is no table of values by names."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{what} cannot be of the type {type(given).__name__}.", hint)
    for name in given:
        check_kind(f"A name in {what}", name, str, hint)


def check_path(what: str, given: object, hint: str) -> None:
    """Raise InvalidInputError for what cannot be the path of a file."""
    check_kind(what, given, str | os.PathLike, hint)
    name = os.fsdecode(given)  # type: ignore[arg-type]  # it is one
    if "\0" in name or _is_half(name):
        raise InvalidInputError(f"{what} cannot be {name!r}.", hint)


def _is_half(name: str) -> bool:
    """Return whether a name has half a character, which no file's name can have."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return True
    return False
