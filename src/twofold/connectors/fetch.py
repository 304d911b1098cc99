"""One page over HTTP, for a sync of the web: never from a private address, never more than asked for.

A name is resolved once, its addresses are checked, and the connection goes to the address that was checked: another
answer of the name server in between reaches nothing. Each redirect is checked in the same way.
"""

import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address
from urllib.parse import urljoin, urlsplit

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError

AGENT = "twofold"
MAX_REDIRECTS = 5
SECONDS = 20.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered: its status, its headers in lower case, its body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches pages of at most `max_bytes`; of private addresses only where they are allowed."""

    max_bytes: int
    private: bool = False

    def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Page:
        """Ask for a page, following redirects. Raises ReadError for one that cannot be fetched."""
        for _ in range(MAX_REDIRECTS + 1):
            page = self._once(url, headers or {})
            if page.status not in _REDIRECTS or "location" not in page.headers:
                return page
            url = urljoin(url, page.headers["location"])
        raise ReadError(f"it redirects more than {MAX_REDIRECTS} times", "Name the page itself.", "unreadable")

    def _once(self, url: str, headers: Mapping[str, str]) -> Page:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ReadError(f"{url[:200]} is no address of a web page", "Write https://host/path.", "unreadable")
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
            connection = self._connected(parts.hostname, port, secure=parts.scheme == "https")
            try:
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request(
                    "GET", target, headers={"User-Agent": AGENT, "Accept-Encoding": "identity", **headers}
                )
                return self._read_page(connection.getresponse())
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise ReadError(f"its server cannot be reached: {why}", "Try again later.", "unreadable") from error

    def _connected(self, host: str, port: int, *, secure: bool) -> http.client.HTTPConnection:
        address = self._address_of(host, port)
        made = http.client.HTTPConnection(host, port, timeout=SECONDS)
        plain = socket.create_connection((address, port), timeout=SECONDS)
        made.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
        return made

    def _address_of(self, host: str, port: int) -> str:
        """Return an address of a host that may be asked."""
        found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        allowed = [one for one in found if self.private or _is_public(one)]
        if len(allowed) < len(found) or not allowed:
            raise ReadError(
                f"{host} is an address of a private network", "Allow it with --allow-private-addresses.", "unreadable"
            )
        return allowed[0]

    def _read_page(self, response: http.client.HTTPResponse) -> Page:
        headers = {name.lower(): value for name, value in response.getheaders()}
        body = bytearray()
        while piece := response.read(_PIECE):
            body += piece
            if len(body) > self.max_bytes:
                raise ReadError(f"it is larger than the {self.max_bytes:,} bytes allowed", "Raise the limit.", "limit")
        return Page(response.status, headers, bytes(body))


def _is_public(address: str) -> bool:
    """Return whether an address is of the open internet; an IPv4 address inside an IPv6 one counts as itself."""
    found = ip_address(address.partition("%")[0])
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    return found.is_global and not found.is_multicast and (inner is None or inner.is_global)
