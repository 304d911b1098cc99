"""The files of the page, read and packed once when the server starts; a name is looked up and opens nothing."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from twofold.domain.dataclass import dataclass

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file as it is sent, and packed by gzip for clients that take it; the tag is weak: it stands for both."""

    data: bytes
    packed: bytes
    media_type: str
    tag: str


_INDENT = re.compile(rb"^[ \t]+", re.MULTILINE)
_COMMENT = re.compile(rb"^//.*$", re.MULTILINE)
_STYLE_BLANKS = re.compile(rb"/\*[^*]*\*/|(?<=[:;{},>]) +| +(?=[{>])")
PageFiles = Mapping[str, PageFile]


def load_page() -> PageFiles:
    """Read the files that came with the package, by their names."""
    found = {}
    for one in files("twofold.server").joinpath("static").iterdir():
        media_type = MEDIA_TYPES.get(one.name.rpartition(".")[2])
        if media_type is not None:
            data = sent(one.read_bytes(), media_type)
            tag = f'W/"{hashlib.sha256(data).hexdigest()[:16]}"'
            found[one.name] = PageFile(data, gzip.compress(data, mtime=0), media_type, tag)
    return MappingProxyType(found)


def sent(data: bytes, media_type: str) -> bytes:
    r"""Return a file as it is sent: without indents, lines of comment, and blanks of a stylesheet: a tenth of all.

    Lines stay lines, so that a browser names the line of the source. A template's own blanks are one blank anyway.

    >>> sent(b"// Why.\nif (a) {\n  b();\n}", MEDIA_TYPES["js"])
    b'\nif (a) {\nb();\n}'
    >>> sent(b"/* All. */\nul > li, a { color: var(--ink); }", MEDIA_TYPES["css"])
    b'\nul>li,a{color:var(--ink);}'
    """
    if media_type not in (MEDIA_TYPES["js"], MEDIA_TYPES["css"]):
        return data
    bare = _INDENT.sub(b"", data)
    return _COMMENT.sub(b"", bare) if media_type == MEDIA_TYPES["js"] else _STYLE_BLANKS.sub(b"", bare)
