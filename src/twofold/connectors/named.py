"""What a command line names: a folder, or a place that a connector follows."""

from twofold.connectors.git import GitConnector
from twofold.connectors.imap import ImapConnector
from twofold.connectors.sql import PostgresConnector, SqliteConnector
from twofold.connectors.web import WebConnector
from twofold.domain.errors import InvalidInputError
from twofold.ingest.connector import Connector


def place_named(text: str, *, private: bool = False) -> str | Connector:
    """Return the connector of a place, or the text as it is where it names a file or a folder.

    `git+PATH@REVISION#FOLDER`, `https://HOST/sitemap.xml` or one page, `urls:FILE`, `sqlite:PATH#SELECT …`,
    `postgresql://…#SELECT …`, `imaps://USER@HOST/FOLDER`. `private`
    lets pages come from private addresses. Raises InvalidInputError for a place that says too little.
    """
    kind, _, rest = text.partition(":")
    if text.startswith(("http://", "https://")):
        return WebConnector(text, private=private)
    if text.startswith("git+"):
        return _repository(text.removeprefix("git+").removeprefix("file://"))
    if kind == "urls" and rest:
        return WebConnector(rest, private=private)
    if kind in ("imap", "imaps"):
        return ImapConnector(text)
    if kind in ("sqlite", "postgresql"):
        return _query_of(text)
    return text


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
