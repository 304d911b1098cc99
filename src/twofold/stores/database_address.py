"""The address of an index that is no folder. A password is never shown.

postgresql://user@host/database?index=NAME       in a database; with &retrieval=server it is ranked there
s3://bucket/prefix/NAME                          in a bucket of an object storage
"""

import re
from hashlib import blake2b
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

S3_SCHEME = "s3://"
SCHEMES = ("postgresql://", "postgres://", S3_SCHEME)
DEFAULT_INDEX = "default"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_NAME = re.compile(r"(?!\.\.?$)[A-Za-z0-9._-]{1,64}")
_SECRETS = frozenset({"password", "sslpassword", "passfile"})


def is_address(where: object) -> bool:
    """Return whether a text is the address of a database or a bucket."""
    return isinstance(where, str) and where.startswith(SCHEMES)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an index is kept.

    `dsn` is what the client library is given, with the password if there is one; `shown` is the same for people,
    without it, and with the index's name. `ranks_there` is whether the database ranks, and not this machine.
    """

    dsn: str
    index: str
    shown: str
    ranks_there: bool = False

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def in_bucket(self) -> bool:
        """Whether it is in a bucket of an object storage."""
        return self.dsn.startswith(S3_SCHEME)

    @property
    def key(self) -> str:
        """What names files of this machine that belong to the index: letters and digits."""
        return blake2b(self.shown.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    @property
    def database(self) -> str:
        """The database alone, for people; of a bucket all of the address."""
        return self.shown.partition("index=")[0].rstrip("?&")


def address_of(where: str) -> Address:
    """Read an address. Raises InvalidInputError, which never repeats what was given."""
    if where.startswith(S3_SCHEME):
        return _in_bucket(where)
    try:
        parts = urlsplit(where)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        _ = parts.port
    except ValueError:
        raise InvalidInputError(
            "That is not the address of a database.", "Write postgresql://user@host:5432/database?index=NAME."
        ) from None
    named = [value for name, value in query if name == "index"]
    index = named[-1] if named else DEFAULT_INDEX
    retrieval = [value for name, value in query if name == "retrieval"]
    if not {"client", "server"}.issuperset(retrieval):
        raise InvalidInputError("`retrieval` of an address is `client` or `server`.", "Leave it out for `client`.")
    kept = [(name, value) for name, value in query if name not in {"index", "retrieval"}]
    public = [(name, value) for name, value in kept if name not in _SECRETS]
    user, at, host = parts.netloc.rpartition("@")
    shown_host = f"{user.partition(':')[0]}{at}{host}"
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(kept, quote_via=quote), ""))
    shown = urlunsplit(
        ("postgresql", shown_host, parts.path, urlencode([*public, ("index", index)], quote_via=quote, safe="/"), "")
    )
    return Address(_with_slashes(dsn), index, _with_slashes(shown), retrieval[-1:] == ["server"])


def with_index(where: str, index: str) -> str:
    """Return the address of another index of the same database, with the password if there is one.

    In a bucket it is one below the address.
    """
    address = address_of(where)
    if address.in_bucket:
        return f"{address.dsn}/{index}"
    retrieval = "&retrieval=server" if address.ranks_there else ""
    return f"{address.dsn}{'&' if '?' in address.dsn else '?'}index={quote(index, safe='')}{retrieval}"


def _in_bucket(where: str) -> Address:
    """Read the address of a bucket, or of what is below a prefix in it. Nothing in it can be a secret."""
    bucket, *names = where.removeprefix(S3_SCHEME).rstrip("/").split("/")
    if not _BUCKET.fullmatch(bucket) or not all(map(_NAME.fullmatch, names)):
        raise InvalidInputError(
            "That is not the address of a bucket.",
            "Write s3://BUCKET/NAME; keys and the endpoint are taken from the environment.",
        )
    shown = S3_SCHEME + "/".join([bucket, *names])
    return Address(shown, names[-1] if names else "", shown)


def _with_slashes(address: str) -> str:
    """Return an address with the slashes after the scheme, which `urlunsplit` leaves out where no host is named."""
    scheme, _, rest = address.partition(":")
    return address if rest.startswith("//") else f"{scheme}://{rest}"
