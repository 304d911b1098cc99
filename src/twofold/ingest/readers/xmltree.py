"""XML to a plain tree: no document types, no entities, no network, no namespaces, and at most as deep as a walk can go.

Tags lose their namespace, so Office's Transitional and Strict variants read the same. Attributes lose it as well,
except those that point to another part (`r:id`, `r:embed`), which would otherwise collide with plain ones.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from twofold.domain.errors import ReadError
from twofold.ingest.archive import Archive
from twofold.ingest.readers.types import MEBIBYTE

MAX_BYTES = 64 * MEBIBYTE  # a tree costs about ten times its text, and a reader has 1 GB
MAX_DEPTH = 256

_MAX_DIGITS = 9
_RELATIONSHIPS = "/relationships}"


def parse_xml(source: str, data: bytes, *, doctype: bool = False) -> Element:
    """Parse `data`, part of the file named `source`. A document type is refused unless `doctype`, entities always.

    Raises ReadError: `limit` for more than 64 MiB or 256 levels, `malformed` for all else.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if len(data) > MAX_BYTES:
        raise ReadError(f"{source}: a part of it is larger than {MAX_BYTES:,} bytes.", "Split it.", kind="limit")
    try:
        root: Element = fromstring(data, forbid_dtd=not doctype)
    except DefusedXmlException as error:
        message = f"{source}: it declares entities of its own, which can blow up or reach outside."
        raise ReadError(message, "Save the file again in its own program.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise ReadError(f"{source}: its XML is broken.", "Restore it from a good copy.") from error
    _strip_namespaces(source, root)
    return root


def read_xml(archive: Archive, name: str, *, doctype: bool = False) -> Element:
    """Parse one part of an archive. Raises ReadError, also when the part is missing."""
    return parse_xml(archive.source, archive.read(name), doctype=doctype)


def read_xml_if_there(archive: Archive, name: str, *, doctype: bool = False) -> Element:
    """Parse one part of an archive; a part that is not there is an empty element."""
    return read_xml(archive, name, doctype=doctype) if archive.find(name) is not None else Element("nothing")


def text_of(element: Element | None) -> str:
    """Return all text in an element, or "" for None."""
    return "" if element is None else "".join(element.itertext())


def number_of(element: Element | None, name: str, default: int = 0) -> int:
    """Return an attribute as a whole number of at most nine digits, or `default` if it is missing or no number."""
    value = "" if element is None else element.get(name, "")
    sign = -1 if value.startswith("-") else 1
    digits = value.lstrip("-")
    return sign * int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS else default


def _strip_namespaces(source: str, root: Element) -> None:
    level = [root]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ReadError(f"{source}: nested deeper than {MAX_DEPTH} levels.", "Flatten it.", kind="limit")
        for element in level:
            _strip_one(element)
        level = [child for element in level for child in element]


def _strip_one(element: Element) -> None:
    tag = element.tag
    if tag[:1] == "{":
        element.tag = tag[tag.rindex("}") + 1 :]
    attributes = element.attrib
    qualified = [name for name in attributes if name[:1] == "{"]
    for name in qualified:
        namespace, _, local = name.rpartition("}")
        plain = f"r:{local}" if f"{namespace}}}".endswith(_RELATIONSHIPS) else local
        attributes.setdefault(plain, attributes.pop(name))


def children(element: Element | None, name: str) -> Iterator[Element]:
    """Return the direct children of one name; none of None."""
    return iter(()) if element is None else (child for child in element if child.tag == name)
