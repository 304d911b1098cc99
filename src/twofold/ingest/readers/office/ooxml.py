"""The package that Word, PowerPoint and Excel share: parts in a ZIP, tied by relationships, with properties."""

import posixpath
from collections.abc import Mapping

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.domain.types import MetadataValue
from twofold.ingest.archive import OLE_SIGNATURE, Archive, encrypted, open_archive
from twofold.ingest.readers.types import Source
from twofold.ingest.readers.xmltree import read_xml_if_there, text_of

_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "description": "description",
    "category": "category",
    "language": "language",
    "created": "created",
    "modified": "modified",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part points to: `kind` is the last word of its type, `target` a part's name, or an address outside."""

    kind: str
    target: str


def open_package(source: Source) -> Archive:
    """Open an Office file. One with a password is an OLE file around the encrypted package: kind `encrypted`."""
    if source.data.startswith(OLE_SIGNATURE):
        refuse_encrypted(source)
        message = f"{source.name}: a file in the format of Office 97-2003."
        raise ReadError(message, "Save it in the present format.", kind="unsupported")
    return open_archive(source)


def refuse_encrypted(source: Source) -> None:
    """Raise ReadError of kind `encrypted` for an OLE file that holds an encrypted package."""
    if _ENCRYPTED_STREAM in source.data:
        raise encrypted(source)


def relations(archive: Archive, part: str) -> Mapping[str, Relation]:
    """Return what a part points to, by id; the package's own relations for the part ""."""
    folder, name = posixpath.split(part)
    root = read_xml_if_there(archive, posixpath.join(folder, "_rels", f"{name}.rels"))
    found: dict[str, Relation] = {}
    for element in root.iter("Relationship"):
        target = element.get("Target", "")
        if element.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[element.get("Id", "")] = Relation(element.get("Type", "").rpartition("/")[2], target)
    return found


def main_part(archive: Archive) -> str:
    """Return the name of the part that holds the document. Raises ReadError when the package names none."""
    for relation in relations(archive, "").values():
        if relation.kind == "officeDocument" and archive.find(relation.target):
            return relation.target
    raise ReadError(f"{archive.source}: no document in it.", "Restore it from a good copy.")


def target_of(found: Mapping[str, Relation], kind: str) -> str:
    """Return the first target of one kind, or ""."""
    return next((relation.target for relation in found.values() if relation.kind == kind), "")


def core_properties(archive: Archive) -> dict[str, MetadataValue]:
    """Return what the file says of itself: title, author, subject, keywords, created and so on, where present."""
    part = target_of(relations(archive, ""), "core-properties") or "docProps/core.xml"
    root = read_xml_if_there(archive, part)
    return {_PROPERTIES[child.tag]: text_of(child) for child in root if child.tag in _PROPERTIES and text_of(child)}
