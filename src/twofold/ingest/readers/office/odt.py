"""OpenDocument text (ODT), and presentations (ODP) by the way: headings, lists, tables, text frames, notes.

Tracked deletions, comments, page headers and footers are left out.
"""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.office.grid import GridCell, build_grid
from twofold.ingest.readers.office.opendocument import document_properties, open_document
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Outline, Source, TextBuilder, one_line
from twofold.ingest.readers.xmltree import children, number_of, read_xml, read_xml_if_there

_SKIPPED = frozenset(("annotation", "annotation-end", "tracked-changes", "note", "frame", "custom-shape", "ruby-text",
                      "bookmark", "table-of-content-source", "index-title-template"))  # fmt: skip
_FRAMES = frozenset(("frame", "custom-shape", "rect", "ellipse", "polygon", "path", "g", "a"))
_ROWS = frozenset(("table-header-rows", "table-rows", "table-row-group"))
_BLANKS = {"tab": "\t", "line-break": "\n", "soft-page-break": ""}
_MAX_REPEATS = 64
_MAX_BASES = 20


def read_odt(source: Source) -> Extract:
    """Read an OpenDocument text or presentation; in the latter slides are pages.

    Metadata: `author`, `subject`, `keywords`, `created`, `modified` (ISO), `language`, where given.
    Raises ReadError: `encrypted`, `limit`, `malformed`.
    """
    archive = open_document(source)
    root = read_xml(archive, "content.xml")
    body = root.find("body")
    if body is None:
        raise ReadError(f"{source.name}: no document in it.", "Restore it from a good copy.")
    reader = _BodyReader({**_parents(read_xml_if_there(archive, "styles.xml")), **_parents(root)})
    for content in body:
        reader.blocks(content)
    metadata = document_properties(archive)
    return reader.builder.extract(str(metadata.pop("title", "")) or reader.title, metadata)


def _parents(root: Element) -> Mapping[str, str]:
    """Return the style that each style stands on."""
    return {style.get("name", ""): style.get("parent-style-name", "") for style in root.iter("style")}


class _BodyReader:
    """Walks the content once, in order, with the path of headings that the walk needs."""

    def __init__(self, parents: Mapping[str, str]) -> None:
        self._parents = parents
        self._outline = Outline()
        self._page: int | None = None
        self.builder = TextBuilder()
        self.title = ""

    def blocks(self, parent: Element) -> None:
        """Read what stands in a body, a section or a frame."""
        for child in parent:
            if child.tag == "h":
                self._heading(child, number_of(child, "outline-level", 1))
            elif child.tag == "p":
                self._paragraph(child)
            elif child.tag == "list":
                self._list(child)
            elif child.tag == "table":
                self._table(child)
            elif child.tag == "page":
                self._slide(child)
            elif child.tag not in ("tracked-changes", "annotation", "forms", "sequence-decls"):
                self.blocks(child)

    def _heading(self, element: Element, level: int) -> None:
        title = one_line(inline_text(element))
        path = self._outline.enter(level, title)
        self.title = self.title or title
        self.builder.add(BlockKind.HEADING, title, heading=path, page=self._page)
        self._aside(element)

    def _paragraph(self, element: Element) -> None:
        if self._stands_on(element.get("style-name", ""), "Title"):
            self._heading(element, 0)
            return
        self.builder.add(BlockKind.PARAGRAPH, inline_text(element).strip(), heading=self._outline.path, page=self._page)
        self._aside(element)

    def _stands_on(self, style: str, name: str) -> bool:
        for _ in range(_MAX_BASES):
            if style == name:
                return True
            style = self._parents.get(style, "")
        return False

    def _aside(self, element: Element) -> None:
        """Read the frames and notes that hang on a paragraph, after it."""
        for child in element:
            if child.tag in _FRAMES or child.tag == "note":
                for part in child.iter("note-body") if child.tag == "note" else (child,):
                    self.blocks(part)
            elif child.tag != "annotation":
                self._aside(child)

    def _list(self, element: Element) -> None:
        if next(element.iter("h"), None) is not None:  # numbered headings stand inside of lists
            self.blocks(element)
            return
        lines = list(_items(element, 0))
        self.builder.add(BlockKind.LIST, "\n".join(lines), heading=self._outline.path, page=self._page)
        for paragraph in element.iter("p"):
            self._aside(paragraph)

    def _table(self, element: Element) -> None:
        rows = [row for one in _rows(element) if (row := list(_cells(one)))]
        heads = sum(1 for group in children(element, "table-header-rows") for _ in _rows(group))
        grid = build_grid(rows, heads or None)
        self.builder.add(BlockKind.PARAGRAPH, grid.caption, heading=self._outline.path, page=self._page)
        above = (*self._outline.path, *filter(None, (grid.caption,)))
        add_rows(self.builder, grid.rows, has_header=bool(grid.header), heading=above, page=self._page)

    def _slide(self, element: Element) -> None:
        self._page = (self._page or 0) + 1
        self._outline = Outline()
        frames = list(element)
        titles = [frame for frame in frames if frame.get("class") == "title"]
        for frame in titles:
            self._heading(frame, 1)
        for frame in frames:
            if frame not in titles:
                self.blocks(frame)


def inline_text(element: Element) -> str:
    """Return an element's text as it is shown, without frames, notes and comments."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "s":
            parts.append(" " * min(max(number_of(child, "c", 1), 1), _MAX_REPEATS))
        elif child.tag in _BLANKS:
            parts.append(_BLANKS[child.tag])
        elif child.tag not in _SKIPPED or (element.tag == "frame" and child.tag == "text-box"):
            parts.append(inline_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _items(element: Element, depth: int) -> Iterator[str]:
    for item in element:
        if item.tag not in ("list-item", "list-header"):
            continue
        texts = [inline_text(child).strip() for child in item if child.tag == "p"]
        if any(texts):
            yield f"{'  ' * min(depth, 9)}- {' '.join(text for text in texts if text)}"
        for inner in children(item, "list"):
            yield from _items(inner, depth + 1)


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == "table-row":
            yield child
        elif child.tag in _ROWS:
            yield from _rows(child)


def _cells(row: Element) -> Iterator[GridCell]:
    """Yield the cells of a row but those that another one covers."""
    for cell in row:
        if cell.tag == "table-cell":
            text = " ".join(_cell_texts(cell))
            right, down = number_of(cell, "number-columns-spanned", 1), number_of(cell, "number-rows-spanned", 1)
            times = min(max(number_of(cell, "number-columns-repeated", 1), 1), _MAX_REPEATS)
            yield from [GridCell(text, max(right, 1), max(down, 1))] * times


def _cell_texts(cell: Element) -> Iterator[str]:
    """Return the paragraphs of a cell, those of lists and tables inside it too."""
    for child in cell:
        if child.tag in ("p", "h"):
            yield inline_text(child).strip()
        elif child.tag != "annotation":
            yield from _cell_texts(child)
