"""What a command line names: a folder, or a place that a connector follows."""

from collections.abc import Callable, Mapping

from twofold.connectors.git import GitConnector
from twofold.connectors.imap import ImapConnector
from twofold.connectors.sql import PostgresConnector, SqliteConnector
from twofold.connectors.web import WebConnector
from twofold.domain.errors import InvalidInputError, MissingExtraError
from twofold.ingest.connector import Connector


def place_named(text: str, *, private: bool = False) -> str | Connector:
    """Return the connector of a place, or the text as it is where it names a file or a folder.

    `git+PATH@REVISION#FOLDER`, `https://HOST/sitemap.xml` or one page, `urls:FILE`, `sqlite:PATH#SELECT …`,
    `postgresql://…#SELECT …`, `imaps://USER@HOST/FOLDER`, `s3://BUCKET/PREFIX`. `private`
    lets pages come from private addresses. Raises InvalidInputError for a place that says too little.
    """
    kind, _, rest = text.partition(":")
    if kind in ("http", "https") and rest.startswith("//"):
        return WebConnector(text, private=private)
    if kind == "urls" and rest:
        return WebConnector(rest, private=private)
    if text.startswith("git+"):
        return _repository(text.removeprefix("git+").removeprefix("file://"))
    made = _BY_KIND.get(kind)
    return text if made is None else made(text)


def _query_of(text: str) -> Connector:
    """Read `sqlite:PATH#QUERY` or `postgresql://…#QUERY`."""
    place, _, query = text.partition("#")
    if not place.partition(":")[2] or not query.strip():
        raise InvalidInputError("A database wants a query.", f"Write a query behind it: {place}#SELECT …")
    if place.startswith("sqlite:"):
        return SqliteConnector(place.removeprefix("sqlite:"), query)
    return PostgresConnector(place, query)


def _repository(text: str) -> GitConnector:
    """Read `PATH@REVISION#FOLDER`, both of them left out if need be."""
    if text.startswith(("http:", "https:", "ssh:", "git:")):
        raise InvalidInputError(
            "A repository is read from this machine.", "Clone it first, then name its folder: git+/path/to/it@main"
        )
    place, _, folder = text.partition("#")
    path, _, revision = place.rpartition("@") if "@" in place else (place, "", "")
    return GitConnector(path, revision or "HEAD", folder)


def _bucket(text: str) -> Connector:
    """Read `s3://BUCKET/PREFIX`. Raises MissingExtraError where the client is not installed."""
    try:
        from twofold.connectors.s3 import S3Connector
    except ModuleNotFoundError as error:
        raise MissingExtraError("Reading a bucket needs obstore.", "pip install 'twofold[s3]'") from error
    return S3Connector(text)


_BY_KIND: Mapping[str, Callable[[str], Connector]] = {
    "imap": ImapConnector,
    "imaps": ImapConnector,
    "postgresql": _query_of,
    "s3": _bucket,
    "sqlite": _query_of,
}
