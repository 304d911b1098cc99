"""The files of the page, read once when the server starts; a name is looked up in a table and opens nothing."""

import hashlib
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
    """One file as it is sent."""

    data: bytes
    media_type: str
    tag: str


PageFiles = Mapping[str, PageFile]


def load_page() -> PageFiles:
    """Read the files that came with the package, by their names."""
    found = {}
    for one in files("twofold.server").joinpath("static").iterdir():
        media_type = MEDIA_TYPES.get(one.name.rpartition(".")[2])
        if media_type is not None:
            data = one.read_bytes()
            found[one.name] = PageFile(data, media_type, f'"{hashlib.sha256(data).hexdigest()[:16]}"')
    return MappingProxyType(found)
