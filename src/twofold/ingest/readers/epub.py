"""EPUB: chapters in the order of the spine, each read as a page of HTML under its title in the table of contents."""

import posixpath
import re
from collections.abc import Mapping
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.archive import Archive, encrypted, open_archive
from twofold.ingest.readers.html.reader import read_html
from twofold.ingest.readers.types import Extract, Source, TextBuilder, one_line
from twofold.ingest.readers.xmltree import read_xml, read_xml_if_there, text_of

_CONTAINER = "META-INF/container.xml"
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_CONTENTS = "application/x-dtbncx+xml"
_FONT_SCRAMBLERS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PROPERTIES = {"creator": "author", "language": "language", "publisher": "publisher", "date": "created",
               "subject": "subject", "description": "description", "identifier": "identifier"}  # fmt: skip
_SELF_CLOSED = re.compile(rb"<([A-Za-z][A-Za-z0-9:-]{0,40})((?:\s[^<>]*)?)/>")
_EMPTY_TAGS = frozenset((b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
                         b"source", b"track", b"wbr"))  # fmt: skip


def read_epub(source: Source) -> Extract:
    """Read an electronic book. A block's place is its chapter, its heading path starts with it; there are no pages.

    Metadata: `author`, `language`, `publisher`, `created`, `subject`, `identifier`, where given, and `chapters`.
    Raises ReadError: `encrypted` for books under digital locks, `limit`, `malformed`.
    """
    archive = open_archive(source)
    _refuse_locked(source, archive)
    part = _package_part(archive)
    package = read_xml(archive, part, doctype=True)
    items = {item.get("id", ""): item for item in package.iter("item")}
    folder = posixpath.dirname(part)
    titles = _chapter_titles(archive, folder, items)
    chapters = _spine(archive, folder, package, items)
    builder = TextBuilder()
    for number, chapter in enumerate(chapters, 1):
        made = _chapter(source, archive, chapter, titles.get(chapter.casefold(), ""))
        builder.add_extract(made, part=number)
    title, metadata = _properties(package)
    return builder.extract(title, {**metadata, "chapters": len(chapters)})


def _refuse_locked(source: Source, archive: Archive) -> None:
    for method in read_xml_if_there(archive, "META-INF/encryption.xml").iter("EncryptionMethod"):
        if method.get("Algorithm") not in _FONT_SCRAMBLERS:
            raise encrypted(source)


def _package_part(archive: Archive) -> str:
    for root in read_xml(archive, _CONTAINER).iter("rootfile"):
        found = archive.find(root.get("full-path", ""))
        if found:
            return found
    raise ReadError(f"{archive.source}: no book in it.", "Restore it from a good copy.")


def _spine(archive: Archive, folder: str, package: Element, items: Mapping[str, Element]) -> list[str]:
    """Return the chapters' parts in reading order, each once."""
    chapters: dict[str, None] = {}
    for reference in package.iter("itemref"):
        item = items.get(reference.get("idref", ""))
        if item is not None and item.get("media-type") in _CHAPTERS and "nav" not in item.get("properties", "").split():
            found = archive.find(_resolved(folder, item.get("href", "")))
            if found:
                chapters[found] = None
    return list(chapters)


def _resolved(folder: str, link: str) -> str:
    """Return the part that a link points to, without the place in it."""
    path = unquote(link.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


def _chapter_titles(archive: Archive, folder: str, items: Mapping[str, Element]) -> Mapping[str, str]:
    """Return each chapter's first title in the table of contents: EPUB 3's navigation page, or EPUB 2's NCX."""
    titles: dict[str, str] = {}
    for item in items.values():
        part = _resolved(folder, item.get("href", ""))
        if "nav" in item.get("properties", "").split():
            entries = [(link.get("href", ""), text_of(link)) for link in _contents(archive, part).iter("a")]
        elif item.get("media-type") == _CONTENTS:
            entries = _ncx_entries(_contents(archive, part))
        else:
            continue
        for link, title in entries:
            titles.setdefault(_resolved(posixpath.dirname(part), link).casefold(), one_line(title))
    return titles


def _ncx_entries(root: Element) -> list[tuple[str, str]]:
    points = [(point.find("content"), point.find("navLabel")) for point in root.iter("navPoint")]
    return [(content.get("src", ""), text_of(label)) for content, label in points if content is not None]


def _contents(archive: Archive, part: str) -> Element:
    """Parse a table of contents. It is a convenience: one that is broken leaves the chapters without titles."""
    try:
        return read_xml_if_there(archive, part, doctype=True)
    except ReadError as error:
        if error.kind == "limit":
            raise
        return Element("nothing")


def _chapter(source: Source, archive: Archive, part: str, title: str) -> Extract:
    builder = TextBuilder()
    markup = _SELF_CLOSED.sub(_opened_and_closed, archive.read(part))
    chapter = read_html(Source(f"{source.name}: {part}", markup, source.limits))
    first = next((chapter.text[block.start : block.end] for block in chapter.blocks[:1]), "")
    place = title or chapter.title
    above = () if not title or one_line(first).casefold() == title.casefold() else (title,)
    if above and not any(block.kind is BlockKind.HEADING for block in chapter.blocks):
        builder.add(BlockKind.HEADING, title, place=place)
    for block in chapter.blocks:
        text = chapter.text[block.start : block.end]
        path = block.heading if block.heading[:1] == above else (*above, *block.heading)
        builder.add(block.kind, text, heading=path, place=place, header=block.header)
    return builder.extract()


def _opened_and_closed(found: re.Match[bytes]) -> bytes:
    """Write `<title/>` as `<title></title>`: an HTML reader would take the rest of the book for the title."""
    name, attributes = found.groups()
    return found.group() if name.lower() in _EMPTY_TAGS else b"<%b%b></%b>" % (name, attributes, name)


def _properties(package: Element) -> tuple[str, dict[str, MetadataValue]]:
    title = ""
    values: dict[str, list[str]] = {}
    for element in package.iterfind("metadata/*"):
        text = one_line(text_of(element))
        if element.tag == "title":
            title = title or text
        elif element.tag in _PROPERTIES and text:
            values.setdefault(_PROPERTIES[element.tag], []).append(text)
    return title, {name: found[0] if len(found) == 1 else tuple(found) for name, found in values.items()}
