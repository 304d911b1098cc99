"""The state machine that turns a walk over a page into blocks: paragraphs, headings, lists, tables, code."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from twofold.domain.dataclass import dataclass
from twofold.domain.types import BlockKind
from twofold.ingest.readers.html.table import grid_of, is_data_table
from twofold.ingest.readers.html.tree import BLOCKS, LINE_BREAK, collapse, inline_text, verbatim_text
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Outline, TextBuilder

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS: Mapping[str, int] = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset({"ul", "ol", "dl", "menu", "dir"})
_ITEMS = frozenset({"li", "dt", "dd"})
_LONG_LIST = 1500  # characters; a longer list is several blocks, cut between items
_INDENT = "  "


@dataclass(slots=True)
class _List:
    """One open list: its marker, and for definitions the terms that the next lines explain."""

    tag: str
    number: int = 1
    marker: str = ""
    terms: list[str] = field(default_factory=list)
    has_definition: bool = False
    is_shown: bool = False  # the terms stand in a block already, so later blocks name them in their path


def is_atomic(node: "LexborNode") -> bool:
    """Return whether an element is read as one thing: preformatted text, and tables that hold data."""
    return node.tag == "pre" or (node.tag == "table" and is_data_table(node))


class Flow:
    """Receives a walk's events and fills `builder`."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._outline = Outline()
        self._inline: list[str] = []
        self._lists: list[_List] = []
        self._lines: list[str] = []
        self._links_open = 0
        self._linked = 0  # characters of the running text that stand in links
        self._linked_lines = 0
        self.linked: list[int] = []  # of each block, how many of its characters stand in links

    def text(self, text: str) -> None:
        """Take running text."""
        self._inline.append(text)
        if self._links_open:
            self._linked += len(text.strip())

    def enter(self, node: "LexborNode") -> None:
        """Take the start of an element."""
        tag = node.tag or ""
        if tag in BLOCKS:
            self._flush()
        if tag in _LISTS:
            self._open_list(tag, node)
        elif tag in _ITEMS:
            self._open_item(tag)
        elif tag in _HEADINGS:
            self._flush_list()
        elif tag == "a":
            self._links_open += "href" in node.attributes
        elif tag == "br":
            self._inline.append(LINE_BREAK)
        elif tag == "img":
            self._inline.append(node.attributes.get("alt") or "")

    def leave(self, node: "LexborNode") -> None:
        """Take the end of an element."""
        tag = node.tag or ""
        if tag == "a":
            self._links_open = max(0, self._links_open - ("href" in node.attributes))
        elif tag == "pre":
            self._add_code(node)
        elif tag == "table" and is_data_table(node):
            self._add_table(node)
        elif tag in _HEADINGS:
            self._add_heading(_HEADINGS[tag])
        elif tag in BLOCKS:
            self._flush()
            self._close(tag)

    def finish(self) -> None:
        """Write down what is still open."""
        self._flush()
        self._flush_list()

    @property
    def _path(self) -> tuple[str, ...]:
        shown = tuple(", ".join(level.terms) for level in self._lists if level.is_shown and level.terms)
        return self._outline.path + shown

    def _open_list(self, tag: str, node: "LexborNode") -> None:
        if tag == "dl" and self._lists:
            self._flush_list()
        start = node.attributes.get("start") or "" if tag == "ol" else ""
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1  # noqa: PLR2004 digits
        self._lists.append(_List(tag, number))

    def _open_item(self, tag: str) -> None:
        if not self._lists:
            return
        level = self._lists[-1]
        if tag == "li" and level.tag == "ol":
            level.marker = f"{level.number}. "
            level.number += 1
        elif tag == "li":
            level.marker = "- "
        elif tag == "dt" and level.has_definition:
            self._flush_list()
            level.terms, level.has_definition, level.is_shown = [], False, False
        elif tag == "dd":
            level.has_definition = True

    def _close(self, tag: str) -> None:
        if tag in _LISTS and self._lists:
            if len(self._lists) == 1 or self._lists[-1].tag == "dl":
                self._flush_list()
            self._lists.pop()
        elif tag == "li" and len(self._lists) == 1 and sum(map(len, self._lines)) > _LONG_LIST:
            self._flush_list()

    def _flush(self) -> None:
        """Write the running text gathered so far: a paragraph, or a line of the open list."""
        if not self._inline:
            return
        text = collapse("".join(self._inline))
        self._inline.clear()
        linked, self._linked = self._linked, 0
        if not text:
            return
        if not self._lists:
            self._add(BlockKind.PARAGRAPH, text, linked)
            return
        self._linked_lines += linked
        level = self._lists[-1]
        indent = _INDENT * (len(self._lists) - 1)
        if level.tag == "dl" and not level.has_definition:
            level.terms.append(text.replace("\n", " "))
        elif not level.marker:
            indent += _INDENT
        self._lines.append(indent + level.marker + text.replace("\n", f"\n{indent}"))
        level.marker = ""

    def _flush_list(self) -> None:
        if not self._lines:
            return
        self._add(BlockKind.LIST, "\n".join(self._lines), self._linked_lines)
        self._lines.clear()
        self._linked_lines = 0
        for level in self._lists:
            level.is_shown = True

    def _add(self, kind: BlockKind, text: str, linked: int) -> None:
        self.builder.add(kind, text, heading=self._path)
        self._note(linked)

    def _note(self, linked: int) -> None:
        """Note how much of the blocks added since the last note stands in links."""
        self.linked.extend(linked for _ in range(self.builder.count - len(self.linked)))

    def _add_heading(self, level: int) -> None:
        title = collapse("".join(self._inline)).replace("\n", " ")
        self._inline.clear()
        self._linked = 0
        above = self._outline.enter(level, title)
        self.builder.add(BlockKind.HEADING, title, heading=above)
        self._note(0)

    def _add_code(self, node: "LexborNode") -> None:
        self._flush_list()
        self.builder.add(BlockKind.CODE, verbatim_text(node), heading=self._path)
        self._note(0)

    def _add_table(self, table: "LexborNode") -> None:
        self._flush_list()
        caption = table.css_first("caption")
        named = inline_text(caption) if caption is not None else ""
        grid = grid_of(table)
        for text in (named, grid.caption):
            if text:
                self._add(BlockKind.PARAGRAPH, text, 0)
        above = (*self._path, *filter(None, (named, grid.caption)))
        add_rows(self.builder, grid.rows, has_header=bool(grid.header), heading=above)
        self._note(sum(len(inline_text(link)) for link in table.css("a[href]")))
