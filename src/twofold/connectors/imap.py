"""Mail of an IMAP server: the messages of a folder, or of all folders of an account. Nothing is marked as read."""

import os
import ssl
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from itertools import dropwhile
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, MissingExtraError, NotFoundError, ReadError
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import VERSION, Item
from twofold.ingest.document import content_hash
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name

if TYPE_CHECKING:
    from imapclient import IMAPClient

PASSWORD = "IMAP_PASSWORD"  # noqa: S105  # the name of a variable
SECONDS = 30.0
LIST_BATCH_SIZE = 1_000
FETCH_BATCH_SIZE = 100
FETCH_BATCH_BYTES = 8 << 20
_LEFT_OUT = frozenset({b"\\noselect", b"\\nonexistent", b"\\all", b"\\junk", b"\\trash", b"\\drafts"})
_ASKED = ["RFC822.SIZE", "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)]"]
_MESSAGE_ID = b"BODY[HEADER.FIELDS (MESSAGE-ID)]"


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of a folder, by its number there, with its size in bytes."""

    folder: str
    number: int
    size: int


class ImapConnector:
    """The messages at `imaps://USER@HOST/FOLDER`; without a folder those of the account, trash and junk left out.

    A message is known by its `Message-ID` and size, so that one that was moved to another folder is a renamed document
    and keeps the fields that it was given. The password comes from `IMAP_PASSWORD`. With `imap://` the connection is
    encrypted by STARTTLS before the password is sent, unless the server is on this machine and `plain_here` holds.
    """

    def __init__(self, address: str, *, plain_here: bool = True) -> None:
        parts = urlsplit(address)
        if not parts.hostname or not parts.username or parts.password:
            raise InvalidInputError(
                "A mailbox is named by its user and its server, without the password.",
                f"Write imaps://user@host/INBOX, and set {PASSWORD}.",
            )
        self._secure = parts.scheme == "imaps"
        self._plain_here = plain_here
        self._user, self._host = unquote(parts.username), parts.hostname
        self._port = parts.port or (993 if self._secure else 143)
        self._folder = unquote(parts.path.strip("/"))
        self._waiting: dict[str, _Message] = {}
        self._read: dict[str, bytes] = {}
        self._client: IMAPClient | None = None
        self._selected = ""

    @property
    def root(self) -> str:
        """The account and the folder."""
        return self._account + (f"/{quote(self._folder)}" if self._folder else "")

    @property
    def origin(self) -> str:
        """`mail`."""
        return "mail"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:
        """Yield the messages. Raises NotFoundError or ReadError where the server or the folder cannot be reached."""
        with self._read_errors():
            for folder in self._folders():
                for source, version, message in self._listed(folder):
                    if message.size > limits.file_bytes and _before(known, source) != version:
                        yield Skipped(source, source, f"it is larger than the {limits.file_bytes:,} bytes allowed")
                        continue
                    if _before(known, source) != version:
                        self._waiting[source] = message
                    yield Item(source, version)

    def load(self, item: Item, limits: Limits) -> Source:
        """Fetch a message, and with it those of its folder that are wanted next. Raises ReadError."""
        if item.source not in self._read:
            with self._read_errors():
                self._fetch(item.source)
        try:
            return Source(item.source, self._read.pop(item.source), limits)
        except KeyError as error:
            raise ReadError("the server no longer has it", "Sync again.", "unreadable") from error

    @property
    def _account(self) -> str:
        usual = self._port == (993 if self._secure else 143)
        port = "" if usual else f":{self._port}"
        return f"imap{'s' * self._secure}://{quote(self._user)}@{self._host}{port}"

    def _connected(self) -> "IMAPClient":
        if self._client is None:
            password = _password()
            client = _client_of(self._host, self._port, secure=self._secure)
            if not self._secure and not (self._plain_here and _is_here(client)):
                _encrypt(client)
            weakref.finalize(self, _closed, client)
            client.login(self._user, password)
            self._client, self._selected = client, ""
        return self._client

    def _folders(self) -> Sequence[str]:
        """Return the folders to read: the one that was named and those in it, or all but those that keep no mail."""
        found = self._connected().list_folders()
        separator = next((mark.decode() for _, mark, _ in found if mark), "/")
        names = [
            str(name) for flags, _, name in found if not {flag.lower() for flag in flags} & _LEFT_OUT or self._folder
        ]
        if not self._folder:
            return names
        wanted = self._folder.replace("/", separator)
        chosen = [one for one in names if one == wanted or one.startswith(wanted + separator)]
        if not chosen:
            raise NotFoundError(f"There is no folder {self._folder!r}.", f"There are: {', '.join(names[:20])}.")
        return chosen

    def _select(self, folder: str) -> int:
        """Open a folder for reading alone; return the number that says whether its messages' numbers still hold."""
        self._selected = folder
        return int(self._connected().select_folder(folder, readonly=True).get(b"UIDVALIDITY", 0))

    def _listed(self, folder: str) -> Iterator[tuple[str, str, _Message]]:
        """Yield name, version and place of each message of a folder."""
        era = self._select(folder)
        client = self._connected()
        numbers = client.search("ALL")
        for start in range(0, len(numbers), LIST_BATCH_SIZE):
            if self._selected != folder:  # a message was fetched meanwhile
                self._select(folder)
            part = client.fetch(numbers[start : start + LIST_BATCH_SIZE], _ASKED)
            for number, said in sorted(part.items()):
                size = int(said[b"RFC822.SIZE"])
                name = _message_id(said.get(_MESSAGE_ID, b"")) or f"{folder} {era} {number}".encode()
                source = source_name(f"{self._account}/{quote(folder)}/{era}-{number}.eml")
                yield source, f"{content_hash(name)[:32]} {size}", _Message(folder, number, size)

    def _fetch(self, source: str) -> None:
        """Fetch a message and those that were listed after it in its folder, up to a number of bytes."""
        first = self._waiting.get(source) or self._again(source)
        wanted, size = {first.number: source}, first.size
        for name, message in dropwhile(lambda one: one[0] != source, list(self._waiting.items())):
            size += message.size if name != source else 0
            if message.folder != first.folder or size > FETCH_BATCH_BYTES or len(wanted) == FETCH_BATCH_SIZE:
                break
            wanted[message.number] = name
        if self._selected != first.folder:
            self._select(first.folder)
        for name in wanted.values():
            self._waiting.pop(name, None)
        answers = self._connected().fetch(list(wanted), ["BODY.PEEK[]"])
        self._read = {wanted[number]: said[b"BODY[]"] for number, said in answers.items() if number in wanted}

    def _again(self, source: str) -> _Message:
        """Return the place of a message that is as before, and is read again for other fields."""
        folder, _, name = source.removeprefix(self._account + "/").rpartition("/")
        return _Message(unquote(folder), int(name.removesuffix(".eml").partition("-")[2]), 0)

    @contextmanager
    def _read_errors(self) -> Iterator[None]:
        """Raise ReadError for what a server refuses or does not answer; the next call connects again."""
        try:
            from imapclient.exceptions import IMAPClientError, LoginError
        except ModuleNotFoundError as error:
            raise MissingExtraError("Reading mail needs IMAPClient.", "pip install 'twofold[imap]'") from error
        try:
            yield
        except (IMAPClientError, OSError, ValueError) as error:
            self._client = None
            if isinstance(error, LoginError):
                raise ReadError("the mail server refuses the password", f"Check {PASSWORD}.", "unreadable") from error
            raise _connection_error(error) from error


def _client_of(host: str, port: int, *, secure: bool) -> "IMAPClient":
    from imapclient import IMAPClient

    trusted = ssl.create_default_context() if secure else None
    return IMAPClient(host, port, ssl=secure, ssl_context=trusted, timeout=SECONDS)


def _encrypt(client: "IMAPClient") -> None:
    """Encrypt a connection before anything is said on it. Raises ReadError where the server cannot."""
    offered = client.has_capability("STARTTLS")
    try:
        if offered:
            client.starttls(ssl.create_default_context())
    except BaseException:
        _closed(client)
        raise
    if not offered:
        _closed(client)
        hint = "Write imaps:// in place of imap://, if it has a port for that."
        raise ReadError("the mail server offers no encryption, and gets no password", hint, "unreadable")


def _connection_error(error: Exception) -> ReadError:
    """Return in one line why a server cannot be asked."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = f"the mail server's certificate is refused: {error.verify_message.rstrip('.')}"
        hint = "Name the server as its certificate does; trust an authority of your own with SSL_CERT_FILE."
        return ReadError(why, hint, "unreadable")
    if isinstance(error, ssl.SSLError):
        hint = "imaps:// is for its encrypted port, usually 993; imap:// begins plain and goes on with STARTTLS."
        return ReadError("the mail server does not speak TLS on this port", hint, "unreadable")
    why = getattr(error, "strerror", None) or type(error).__name__
    return ReadError(f"the mail server cannot be reached: {why}", "Try again later.", "unreadable")


def _closed(client: "IMAPClient") -> None:
    with suppress(Exception):
        client.shutdown()


def _is_here(client: "IMAPClient") -> bool:
    """Return whether the server is on this machine, so that a password does not cross a network."""
    return ip_address(client.socket().getpeername()[0].partition("%")[0]).is_loopback


def _password() -> str:
    if password := os.environ.get(PASSWORD, ""):
        return password
    raise InvalidInputError("The mailbox wants a password.", f"Set {PASSWORD}; it is kept nowhere.")


def _message_id(header: bytes) -> bytes:
    """Return the `Message-ID` of a header, or the empty string."""
    _, _, value = header.partition(b":")
    return b"".join(value.split())


def _before(known: Mapping[str, DocumentInfo], source: str) -> str:
    return str(known[source].metadata.get(VERSION, "")) if source in known else ""
