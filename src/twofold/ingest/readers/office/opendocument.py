"""The package that OpenDocument files share: content and metadata in a ZIP, locked by a password or not."""

from xml.etree.ElementTree import Element

from twofold.domain.types import MetadataValue
from twofold.ingest.archive import Archive, encrypted, open_archive
from twofold.ingest.readers.types import Source
from twofold.ingest.readers.xmltree import read_xml_if_there, text_of

MANIFEST = "META-INF/manifest.xml"
_PROPERTIES = {
    "title": "title",
    "initial-creator": "author",
    "subject": "subject",
    "description": "description",
    "language": "language",
    "creation-date": "created",
    "date": "modified",
}


def open_document(source: Source) -> Archive:
    """Open an OpenDocument file. Raises ReadError as `open_archive` does, and `encrypted` for one with a password."""
    archive = open_archive(source)
    if next(read_xml_if_there(archive, MANIFEST, doctype=True).iter("encryption-data"), None) is not None:
        raise encrypted(source)
    return archive


def document_properties(archive: Archive) -> dict[str, MetadataValue]:
    """Return what meta.xml says: title, author, subject, keywords, created and so on, where present."""
    root: Element = read_xml_if_there(archive, "meta.xml")
    found: dict[str, MetadataValue] = {
        _PROPERTIES[element.tag]: text_of(element) for element in root.iter() if element.tag in _PROPERTIES
    }
    keywords = tuple(text_of(element) for element in root.iter("keyword") if text_of(element))
    return {**found, "keywords": ", ".join(keywords)} if keywords else found
