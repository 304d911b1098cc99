"""XML of any kind: the text of its elements, one paragraph each. Entities and external references are refused."""

from xml.etree.ElementTree import ParseError

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.types import Extract, Source, TextBuilder, one_line

_TITLES = frozenset({"title", "name"})


def read_xml(source: Source) -> Extract:
    """Read an XML file. Raises ReadError of kind `malformed` if it is not well formed or declares entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    parser = DefusedXMLParser(target=(gathered := _Gathered()))
    try:
        parser.feed(source.data)
        parser.close()
    except DefusedXmlException as error:
        raise ReadError("the XML declares entities, which may be an attack", "Remove its DOCTYPE.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise ReadError("the XML is not well formed", "Correct it, or rename it to .txt.") from error
    return gathered.builder.extract(gathered.title)


class _Gathered:
    """Receives the parser's events; the text around an element's children stays one paragraph with theirs if inline."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self._parts: list[str] = []

    def start(self, _tag: str, _attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._flush("")

    def data(self, text: str) -> None:
        """Take text."""
        self._parts.append(text)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self._flush(tag.rpartition("}")[2].lower())

    def close(self) -> None:
        """Take the end of the document."""
        self._flush("")

    def _flush(self, tag: str) -> None:
        text = "".join(self._parts).strip()
        self._parts.clear()
        if text and not self.title and tag in _TITLES:
            self.title = one_line(text)
        self.builder.add(BlockKind.PARAGRAPH, text)
