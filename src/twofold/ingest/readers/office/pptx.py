"""PPTX straight from its XML: a slide is a page, its title a heading, its speaker's notes come after its text.

Shapes are read in the order of the file, groups opened, tables and charts as rows, diagrams as lists. Slide
numbers, dates and footers are left out; hidden slides are read.
"""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind, MetadataValue
from twofold.ingest.archive import Archive
from twofold.ingest.readers.office.charts import chart_rows, chart_title
from twofold.ingest.readers.office.omml import equation_text
from twofold.ingest.readers.office.ooxml import Relation, core_properties, main_part, open_package, relations, target_of
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Source, TextBuilder, one_line
from twofold.ingest.readers.xmltree import children, number_of, read_xml, read_xml_if_there

_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))


def read_pptx(source: Source) -> Extract:
    """Read a PowerPoint file. Metadata as in Word files, and `slides`, their number.

    Raises ReadError: `encrypted`, `limit`, `unsupported` (PowerPoint 97-2003), `malformed`.
    """
    archive = open_package(source)
    part = main_part(archive)
    found = relations(archive, part)
    slides = [
        target.target
        for slide in read_xml(archive, part).iter("sldId")
        if (target := found.get(slide.get("r:id", ""))) and archive.find(target.target)
    ]
    if len(set(slides)) < len(slides):
        raise ReadError(f"{source.name}: it shows one slide twice.", "Save the file again in its own program.")
    builder = TextBuilder()
    titles = [_Slide(archive, name, number, builder).read() for number, name in enumerate(slides, start=1)]
    metadata: dict[str, MetadataValue] = {**core_properties(archive), "slides": len(slides)}
    title = str(metadata.pop("title", ""))
    if title.casefold() in ("", "powerpoint presentation"):
        title = next((one for one in titles if one), "")
    return builder.extract(title, metadata)


class _Slide:
    """One slide while it is read: its part, its relations, and the title that its text stands under."""

    def __init__(self, archive: Archive, part: str, number: int, builder: TextBuilder) -> None:
        self._archive = archive
        self._part = part
        self._number = number
        self._builder = builder
        self._relations: Mapping[str, Relation] = relations(archive, part)
        self._path: tuple[str, ...] = ()

    def read(self) -> str:
        """Write the slide's blocks and give its title."""
        root = read_xml(self._archive, self._part)
        shapes = list(_shapes(root.find("cSld/spTree")))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        title = one_line(" ".join(_body_text(shape) for shape in titles))
        if title:
            self._builder.add(BlockKind.HEADING, title, page=self._number)
            self._path = (title,)
        for shape in shapes:
            if _placeholder(shape) not in _TITLES | _FURNITURE:
                self._shape(shape)
        self._notes()
        return title

    def _add(self, kind: BlockKind, text: str) -> None:
        self._builder.add(kind, text, heading=self._path, page=self._number)

    def _shape(self, shape: Element) -> None:
        if shape.tag != "graphicFrame":
            lines = list(_paragraphs(shape.find("txBody")))
            self._add(BlockKind.LIST if len(lines) > 1 else BlockKind.PARAGRAPH, "\n".join(lines))
            return
        for table in shape.iter("tbl"):
            rows = [[_cell_text(cell) for cell in children(row, "tc")] for row in children(table, "tr")]
            add_rows(self._builder, rows, has_header=True, heading=self._path, page=self._number)
        for data in shape.iter("graphicData"):
            self._graphic(data)

    def _graphic(self, data: Element) -> None:
        """Read a chart or a diagram, which are parts of their own."""
        for chart in data.iter("chart"):
            root = self._related(chart.get("r:id", ""))
            self._add(BlockKind.PARAGRAPH, chart_title(root))
            add_rows(self._builder, chart_rows(root), has_header=True, heading=self._path, page=self._number)
        for diagram in data.iter("relIds"):
            lines = [line for body in self._related(diagram.get("r:dm", "")).iter("t") for line in _paragraphs(body)]
            self._add(BlockKind.LIST, "\n".join(lines))

    def _related(self, name: str) -> Element:
        relation = self._relations.get(name)
        return read_xml_if_there(self._archive, relation.target if relation else "")

    def _notes(self) -> None:
        notes = read_xml_if_there(self._archive, target_of(self._relations, "notesSlide"))
        for shape in _shapes(notes.find("cSld/spTree")):
            if _placeholder(shape) not in _FURNITURE:
                self._add(BlockKind.PARAGRAPH, "\n".join(_paragraphs(shape.find("txBody"))))


def _shapes(tree: Element | None) -> Iterator[Element]:
    """Return shapes and frames in order, those of groups and of alternate content among them."""
    for child in () if tree is None else tree:
        if child.tag in ("sp", "cxnSp", "graphicFrame"):
            yield child
        elif child.tag == "grpSp":
            yield from _shapes(child)
        elif child.tag == "AlternateContent":
            yield from _shapes(next((one for one in child if len(one)), None))


def _placeholder(shape: Element) -> str:
    """Name a shape's role on the slide, such as `title` or `sldNum`; "" for a shape with none."""
    found = next(shape.iter("ph"), None)
    return "" if found is None else found.get("type", "body")


def _body_text(shape: Element) -> str:
    return " ".join(_paragraphs(shape.find("txBody")))


def _cell_text(cell: Element) -> str:
    merged = cell.get("hMerge", "0") not in ("0", "false") or cell.get("vMerge", "0") not in ("0", "false")
    return "" if merged else " ".join(_paragraphs(cell.find("txBody")))


def _paragraphs(body: Element | None) -> Iterator[str]:
    """Return a text body's paragraphs that say anything, indented by their level, bullets as `- `."""
    for paragraph in children(body, "p"):
        text = _inline(paragraph).strip()
        if text:
            properties = paragraph.find("pPr")
            level = min(max(number_of(properties, "lvl"), 0), 8)
            listed = level or (properties is not None and _has_bullet(properties))
            yield f"{'  ' * level}- {text}" if listed else text


def _has_bullet(properties: Element) -> bool:
    return properties.find("buChar") is not None or properties.find("buAutoNum") is not None


def _inline(element: Element) -> str:
    parts: list[str] = []
    for child in element:
        if child.tag == "t":
            parts.append(child.text or "")
        elif child.tag == "br":
            parts.append("\n")
        elif child.tag == "oMath":
            parts.append(equation_text(child))
        elif child.tag == "AlternateContent":
            parts.extend(map(_inline, list(child)[:1]))
        elif child.tag not in ("pPr", "rPr", "endParaRPr"):
            parts.append(_inline(child))
    return "".join(parts)
