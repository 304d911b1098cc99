"""What a command line names: a folder, or a place that a connector follows."""

from twofold.connectors.git import GitConnector
from twofold.connectors.sql import SqliteConnector
from twofold.connectors.web import WebConnector
from twofold.domain.errors import InvalidInputError
from twofold.ingest.connector import Connector


def place_named(text: str, *, private: bool = False) -> str | Connector:
    """Return the connector of a place, or the text as it is where it names a file or a folder.

    `git+PATH@REVISION#FOLDER`, `https://HOST/sitemap.xml` or one page, `urls:FILE`, `sqlite:PATH#SELECT …`. `private`
    lets pages come from private addresses. Raises InvalidInputError for a place that says too little.
    """
    kind, _, rest = text.partition(":")
    if text.startswith(("http://", "https://")):
        return WebConnector(text, private=private)
    if text.startswith("git+"):
        return _repository(text.removeprefix("git+").removeprefix("file://"))
    if kind == "urls" and rest:
        return WebConnector(rest, private=private)
    if kind == "sqlite":
        path, _, query = rest.partition("#")
        if not path or not query.strip():
            raise InvalidInputError(
                "A database wants a query.", "Write sqlite:/path/to.db#SELECT id, title, text FROM …"
            )
        return SqliteConnector(path, query)
    return text


def _repository(text: str) -> GitConnector:
    """Read `PATH@REVISION#FOLDER`, both of them left out if need be."""
    if text.startswith(("http:", "https:", "ssh:", "git:")):
        raise InvalidInputError(
            "A repository is read from this machine.", "Clone it first, then name its folder: git+/path/to/it@main"
        )
    place, _, folder = text.partition("#")
    path, _, revision = place.rpartition("@") if "@" in place else (place, "", "")
    return GitConnector(path, revision or "HEAD", folder)
