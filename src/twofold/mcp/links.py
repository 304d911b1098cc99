"""Where a passage can be opened: its page in the web application, its own address, or its file."""

from pathlib import Path, PurePath
from urllib.parse import quote, urlencode

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Metadata, MetadataValue
from twofold.indexing.diff import RECORDED


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of one index. `base` is the web application's, such as `http://127.0.0.1:8722`; empty without one."""

    index: str
    base: str = ""

    def passage(self, source: str, document: str, start: int, end: int, page: int | None) -> str:
        """Return the address of a stretch of a document. It is never empty: connectors cite only what has one.

        >>> Links("notes", "http://127.0.0.1:8722").passage("a.md", "0f", 10, 20, None)
        'http://127.0.0.1:8722/document?index=notes&doc=0f&at=10-20'
        >>> Links("notes").passage("https://wiki.example/tower", "0f", 10, 20, None)
        'https://wiki.example/tower'
        """
        if self.base:
            asked = urlencode({"index": self.index, "doc": document, "at": f"{start}-{end}"})
            return f"{self.base}/document?{asked}"
        if source.startswith(("https://", "http://")):
            return source
        if PurePath(source).is_absolute() and "\0" not in source:
            return Path(source).as_uri() + (f"#page={page}" if page else "")
        return f"twofold://documents/{quote(document, safe='')}"


def name_of(title: str, source: str) -> str:
    """Return what a document is called: its title, else the last part of its source."""
    return title or source.rstrip("/").rpartition("/")[2] or source


def user_fields(metadata: Metadata) -> dict[str, MetadataValue]:
    """Return a document's fields without those that `sync` keeps for itself."""
    return {name: value for name, value in metadata.items() if name not in RECORDED}
