"""Markdown: the file's own text, with blocks as CommonMark sees them; front matter is metadata and no text."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from twofold.domain.types import Block, BlockKind, Dropped, Metadata
from twofold.ingest.decode import decode
from twofold.ingest.readers.front_matter import read_front_matter
from twofold.ingest.readers.office.rows import ROWS_PER_BLOCK
from twofold.ingest.readers.text_blocks import Line, lines_of, trim_span
from twofold.ingest.readers.types import Extract, Outline, Source, clean, clean_metadata, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KINDS = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "blockquote_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}
_LISTS = ("bullet_list_open", "ordered_list_open")
_MAX_DROPPED = 1_000  # characters of front matter that are kept to be shown
_LONG_LIST = 1500  # characters; a longer list is several blocks, cut between its items
_STRETCH = 100_000  # characters that are parsed at a time, at least
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"(?:\s*<!--(?:[^-]|-(?!->))*-->)+\s*")


def read_markdown(source: Source) -> Extract:
    """Read a Markdown file. Its title is the front matter's, else the first heading of the highest level."""
    decoded = decode(source.data)
    return extract_markdown(decoded.text, decoded.metadata)


def extract_markdown(markdown: str, metadata: Metadata | None = None) -> Extract:
    """Read Markdown that is text already, such as a notebook's cell."""
    text = clean(markdown)
    front = read_front_matter(text)
    dropped = (Dropped(one_line(text[: front.end])[:_MAX_DROPPED], "front matter"),) if front.end else ()
    text = text[front.end :].lstrip("\n")
    blocks = tuple(_Document(text).blocks())
    stated = front.metadata.get("title")
    title = stated if isinstance(stated, str) else _first_title(text, blocks)
    rest = {name: value for name, value in front.metadata.items() if name != "title" or not isinstance(value, str)}
    return Extract(text, blocks, one_line(title), clean_metadata({**(metadata or {}), **rest}), dropped)


def _first_title(text: str, blocks: Sequence[Block]) -> str:
    for block in blocks:
        if block.kind is BlockKind.HEADING and not block.heading:
            return _plain_heading(_inline_parser(), text[block.start : block.end])
    return ""


def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _plain_heading(parser: "MarkdownIt", source: str) -> str:
    """Return a heading's words without marks: `## The *end* ##` is `The end`."""
    first = source.strip().split("\n")
    words = " ".join(first[:-1]) if len(first) > 1 else first[0].strip("# \t")
    parts: list[str] = []
    for token in parser.parseInline(words):
        for child in token.children or ():
            is_break = child.type in ("softbreak", "hardbreak")
            parts.append(" " if is_break else "" if child.type == "html_inline" else child.content)
    return one_line("".join(parts))


def _block_parser() -> "MarkdownIt":
    """Make a parser that finds blocks only: what stands inside them is not looked at."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class _Document:
    """One text, parsed in stretches: a parser's tokens take a hundred times the room of what they stand for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._all_lines = list(lines_of(text))
        self._lines: Sequence[Line] = ()
        self._tokens: Sequence[Token] = ()
        self._outline = Outline()
        self._inline = _inline_parser()

    def blocks(self) -> Iterator[Block]:
        """Go through the blocks of the outermost level."""
        parser = _block_parser()
        for lines in self._stretches():
            self._lines = lines
            self._tokens = parser.parse(self._text[lines[0].start : lines[-1].end + 1])
            yield from self._parsed()

    def _stretches(self) -> Iterator[Sequence[Line]]:
        """Cut a long text before headings, or before lines of text after blank ones, but never inside a fence."""
        first, fence, after_blank = 0, "", False
        for number, line in enumerate(self._all_lines):
            content = self._text[line.start : min(line.end, line.start + 80)]
            long_enough = line.start - self._all_lines[first].start
            is_top = content[:1] == "#" or (after_blank and content[:1].isalpha() and long_enough > 2 * _STRETCH)
            if long_enough > _STRETCH and not fence and is_top:
                yield self._all_lines[first:number]
                first = number
            mark = _FENCE.match(content)
            if mark and (not fence or (mark[1].startswith(fence) and not content[mark.end() :].strip())):
                fence = "" if fence else mark[1]
            after_blank = not content.strip()
        if first < len(self._all_lines):
            yield self._all_lines[first:]

    def _parsed(self) -> Iterator[Block]:
        for place, token in enumerate(self._tokens):
            if token.level != 0 or token.map is None:
                continue
            if token.type == "heading_open":
                yield from self._heading(token)
            elif token.type in _LISTS:
                yield from self._list(place)
            elif token.type == "table_open":
                yield from self._table(token.map[0], token.map[1])
            elif token.type in _KINDS:
                yield from self._block(_KINDS[token.type], token.map[0], token.map[1])

    def _heading(self, token: "Token") -> Iterator[Block]:
        for block in self._block(BlockKind.HEADING, *(token.map or (0, 0))):
            title = _plain_heading(self._inline, self._text[block.start : block.end])
            above = self._outline.enter(int(token.tag[1]), title)
            yield Block(BlockKind.HEADING, block.start, block.end, above)

    def _block(self, kind: BlockKind, first: int, last: int, header: str = "") -> Iterator[Block]:
        """Make a block of the lines from `first` up to `last`, if there is anything on them."""
        if first >= min(last, len(self._lines)):
            return
        span = trim_span(self._text, self._lines[first].start, self._lines[min(last, len(self._lines)) - 1].end)
        if span.start < span.end and not _COMMENT.fullmatch(self._text, span.start, span.end):
            yield Block(kind, span.start, span.end, self._outline.path, header=header)

    def _list(self, opening: int) -> Iterator[Block]:
        """Cut a list between its items once it has grown long."""
        first, last = self._tokens[opening].map or (0, 0)
        for item in self._items(opening):
            begin = (item.map or (first, first))[0]
            if begin > first and self._lines[begin].start - self._lines[first].start > _LONG_LIST:
                yield from self._block(BlockKind.LIST, first, begin)
                first = begin
        yield from self._block(BlockKind.LIST, first, last)

    def _items(self, opening: int) -> Iterator["Token"]:
        for place in range(opening + 1, len(self._tokens)):
            token = self._tokens[place]
            if token.level == 0:
                return
            if token.type == "list_item_open" and token.level == 1:
                yield token

    def _table(self, first: int, last: int) -> Iterator[Block]:
        """Cut a table every twenty rows; all of its blocks name the header row."""
        header = self._text[self._lines[first].start : self._lines[first].end].strip()
        begin, end = first, first + 2 + ROWS_PER_BLOCK
        while begin < last:
            yield from self._block(BlockKind.TABLE, begin, min(end, last), header)
            begin, end = end, end + ROWS_PER_BLOCK
