"""DOCX straight from its XML: headings by style or outline level, lists with their numbers, tables, text boxes, notes.

Read without a library in between: both of Office's dialects (Transitional and Strict), content controls, text boxes and
equations count as text here. Headers and footers, deleted text, field codes and comments do not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from xml.etree.ElementTree import Element

from twofold.domain.types import BlockKind
from twofold.ingest.archive import Archive
from twofold.ingest.readers.office.charts import chart_rows, chart_title
from twofold.ingest.readers.office.docx_styles import Style, numbering_of, over, style_of_properties, styles_of
from twofold.ingest.readers.office.grid import MAX_SPAN, GridCell, build_grid
from twofold.ingest.readers.office.omml import equation_text
from twofold.ingest.readers.office.ooxml import core_properties, main_part, open_package, relations, target_of
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Outline, Source, TextBuilder, one_line
from twofold.ingest.readers.xmltree import children, number_of, read_xml, read_xml_if_there

_SKIPPED = frozenset(
    ("pPr", "rPr", "sdtPr", "sdtEndPr", "del", "moveFrom", "instrText", "delText", "drawing", "pict", "object", "rt",
     "footnoteReference", "endnoteReference", "commentReference", "annotationRef", "tblPr", "tblGrid")
)  # fmt: skip
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WRAPPERS = frozenset(("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))
_INDENT = "  "
_CAPTION = re.compile(r"(?:table|tabelle|tableau|tabla|tabella)\s+\d+[.\d]*\s*[:.–—-]?", re.IGNORECASE)
_CAPTION_STYLES = ("caption", "beschriftung", "lgende", "legenda", "leyenda", "epgrafe")  # ids leave out accents
_MAX_CAPTION = 300


def read_docx(source: Source) -> Extract:
    """Read a Word file. Metadata: `author`, `subject`, `keywords`, `created`, `modified` (ISO), where given.

    Raises ReadError: `encrypted`, `limit`, `unsupported` (Word 97-2003), `malformed`.
    """
    archive = open_package(source)
    part = main_part(archive)
    reader = _BodyReader(archive, part)
    reader.blocks(read_xml(archive, part).find("body"))
    reader.finish()
    metadata = core_properties(archive)
    return reader.builder.extract(str(metadata.pop("title", "")) or reader.title, metadata)


class _BodyReader:
    """Walks the body once, in order, with the counters and the path of headings that the walk needs."""

    def __init__(self, archive: Archive, part: str) -> None:
        found = relations(archive, part)
        self._archive = archive
        self._relations = found
        self._styles = styles_of(read_xml_if_there(archive, target_of(found, "styles")))
        self._numbering = numbering_of(read_xml_if_there(archive, target_of(found, "numbering")))
        self._notes = {
            f"{kind}Reference": _notes(read_xml_if_there(archive, target_of(found, f"{kind}s")), kind)
            for kind in ("footnote", "endnote")
        }
        self._outline = Outline()
        self._items: list[str] = []
        self._caption = ""  # of the table that follows
        self.builder = TextBuilder()
        self.title = ""

    def blocks(self, parent: Element | None) -> None:
        """Read what stands in a body, a text box or a content control."""
        for child in () if parent is None else parent:
            if child.tag == "p":
                self._paragraph(child)
            elif child.tag == "tbl":
                self._table(child)
                self._caption = ""
            elif child.tag in _WRAPPERS:
                self.blocks(child)
            elif child.tag == "AlternateContent":
                self.blocks(_chosen(child))

    def finish(self) -> None:
        """Write the list that is still open."""
        if self._items:
            self.builder.add(BlockKind.LIST, "\n".join(self._items), heading=self._outline.path)
            self._items = []

    def _paragraph(self, paragraph: Element) -> None:
        text = inline_text(paragraph).strip()
        properties = paragraph.find("pPr")
        if text:
            self._caption = text if _is_caption(text, properties) else ""
            self._write(text, self._style(properties))
        for box in _text_boxes(paragraph):
            self.blocks(box)
        for chart in paragraph.iter("chart"):
            self._chart(chart)
        for kind, notes in self._notes.items():
            for reference in paragraph.iter(kind):
                note = notes.get(number_of(reference, "id", -1), "")
                if note:
                    self.finish()
                    self.builder.add(BlockKind.PARAGRAPH, note, heading=self._outline.path)

    def _style(self, properties: Element | None) -> Style:
        own = style_of_properties(properties)
        named = None if properties is None else properties.find("pStyle")
        return own if named is None else over(own, self._styles.get(named.get("val", ""), Style()))

    def _write(self, text: str, style: Style) -> None:
        listed = bool(style.list_id)
        depth = max(style.list_level or 0, 0)
        label = self._numbering.label(style.list_id or 0, depth) if listed else ""
        if style.level is not None:
            self.finish()
            shown = one_line(text if label in ("", "-") else f"{label} {text}")
            self.title = self.title or shown
            self.builder.add(BlockKind.HEADING, shown, heading=self._outline.enter(style.level, shown))
        elif listed:
            self._items.append(f"{_INDENT * min(depth, 9)}{label} {text}")
        else:
            self.finish()
            self.builder.add(BlockKind.PARAGRAPH, text, heading=self._outline.path)

    def _chart(self, chart: Element) -> None:
        self.finish()
        relation = self._relations.get(chart.get("r:id", ""))
        root = read_xml_if_there(self._archive, relation.target if relation else "")
        self.builder.add(BlockKind.PARAGRAPH, chart_title(root), heading=self._outline.path)
        add_rows(self.builder, chart_rows(root), has_header=True, heading=self._outline.path)

    def _table(self, table: Element) -> None:
        self.finish()
        found = list(_unwrapped(table, "tr"))
        rows = [list(_cells(row)) for row in found]
        if len(rows) == 1 and len(rows[0]) == 1:
            for cell in _unwrapped(found[0], "tc"):
                self.blocks(cell)
            return
        grid = build_grid([row for row in rows if row], _header_rows(found) or None)
        self.builder.add(BlockKind.PARAGRAPH, grid.caption, heading=self._outline.path)
        above = (*self._outline.path, *filter(None, (self._caption, grid.caption)))
        add_rows(self.builder, grid.rows, has_header=bool(grid.header), heading=above)
        for box in _text_boxes(table):
            self.blocks(box)


def _is_caption(text: str, properties: Element | None) -> bool:
    """Return whether a paragraph names the table below it: by its style, or as in `Table 2: Sales`."""
    named = None if properties is None else properties.find("pStyle")
    style = "" if named is None else named.get("val", "").casefold()
    return len(text) <= _MAX_CAPTION and (style.startswith(_CAPTION_STYLES) or _CAPTION.match(text) is not None)


def inline_text(element: Element) -> str:
    """Return the text of a paragraph or run as it is shown: fields by their result, tracked changes as accepted."""
    parts: list[str] = []
    for child in element:
        if child.tag == "t":
            parts.append(child.text or "")
        elif child.tag in _SIGNS:
            parts.append(_SIGNS[child.tag])
        elif child.tag == "oMath":
            parts.append(equation_text(child))
        elif child.tag == "sym":
            parts.append(_symbol(child))
        elif child.tag == "AlternateContent":
            parts.append(inline_text(_chosen(child)))
        elif child.tag not in _SKIPPED:
            parts.append(inline_text(child))
    return "".join(parts)


def _symbol(element: Element) -> str:
    """Return a sign by its code; fonts of pictures use codes of private meaning, which say nothing."""
    try:
        code = int(element.get("char", ""), 16)
    except ValueError:
        return ""
    return chr(code) if 0x20 <= code < 0xD800 else ""  # noqa: PLR2004


def _chosen(alternate: Element) -> Element:
    """Take the first choice of alternate content that says anything, else the fallback."""
    choices = [*children(alternate, "Choice"), *children(alternate, "Fallback")]
    return next((one for one in choices if len(one)), alternate.makeelement("nothing", {}))


def _text_boxes(element: Element) -> Iterator[Element]:
    """Find the text boxes that hang on an element, the outermost only."""
    for child in element:
        if child.tag == "txbxContent":
            yield child
        elif child.tag == "AlternateContent":
            yield from _text_boxes(_chosen(child))
        else:
            yield from _text_boxes(child)


def _unwrapped(element: Element, name: str) -> Iterator[Element]:
    """Find rows or cells, also those inside content controls and tracked insertions."""
    for child in element:
        if child.tag == name:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _unwrapped(child, name)


def _header_rows(rows: Sequence[Element]) -> int:
    """Count the first rows that are repeated on every page: Word's own mark of a header."""
    marked = [row.find("trPr") for row in rows]
    heads = (one is not None and one.find("tblHeader") is not None for one in marked)
    return sum(1 for _ in takewhile(bool, heads))


def _cells(row: Element) -> Iterator[GridCell]:
    for cell in _unwrapped(row, "tc"):
        properties = cell.find("tcPr")
        merged = None if properties is None else properties.find("vMerge")
        span = 1 if properties is None else number_of(properties.find("gridSpan"), "val", 1)
        goes_on = merged is not None and merged.get("val") != "restart"
        yield GridCell("" if goes_on else _cell_text(cell), min(max(span, 1), MAX_SPAN), goes_on=goes_on)


def _cell_text(cell: Element) -> str:
    """Return a cell's paragraphs, those of tables inside it too, in one line."""
    parts: list[str] = []
    for child in cell:
        if child.tag == "p":
            parts.append(inline_text(child).strip())
        elif child.tag in ("tbl", "tr", "tc") or child.tag in _WRAPPERS:
            parts.append(_cell_text(child))
    return " ".join(part for part in parts if part)


def _notes(root: Element, kind: str) -> Mapping[int, str]:
    return {
        number_of(note, "id", -1): _cell_text(note).strip()
        for note in children(root, kind)
        if note.get("type", "normal") == "normal"
    }
