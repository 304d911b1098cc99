"""The blocks of a manual page as they come: sections, paragraphs, entries with what they say, code, tables."""

import re
from collections.abc import Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.types import BlockKind
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Outline, TextBuilder, one_line

_INDENT = "  "
_LONG_LIST = 1500  # characters; a longer list is several blocks, cut between items
_LONGEST_NAME = 96
_LONGEST_TITLE = 120
_MARKER = re.compile(r"(?:[•·*\-–—o]|\(?(?:\d{1,3}|[a-z])[.)]|\[\d{1,3}\]|\d{1,2})$")
_BULLETED = re.compile(r"(?:[•·]|(\d{1,3}[.)]))\s+(?=\S)")
_SYNOPSES = frozenset({"SYNOPSIS", "ÜBERSICHT", "SINOPSIS", "SINTASSI", "SINOPSE", "SKŁADNIA", "ОБЗОР", "書式"})
_NAME_DASH = re.compile(r"\s+[-–—]+\s+")


@dataclass(slots=True)
class _Entry:
    """An entry of a list that is open: its names, or its marker, and how deep its margin stands."""

    depth: int
    names: list[str]
    has_text: bool = False
    is_shown: bool = False  # the names stand in a block already, so later blocks name them in their path


class ManualPage:
    """Takes what macros say and fills the text. `depth` is how many margins are open, as `.RS` opens them."""

    def __init__(self) -> None:
        self._builder = TextBuilder()
        self._outline = Outline()
        self._inline: list[str] = []
        self._lines: list[str] = []
        self._size = 0
        self._entries: list[_Entry] = []
        self._marker = ""
        self._code: list[str] | None = None
        self._joins = False
        self.depth = 0
        self.name = ""
        self.section = ""
        self.about = ""

    @property
    def in_code(self) -> bool:
        """Whether lines are kept as they are."""
        return self._code is not None

    @property
    def in_synopsis(self) -> bool:
        """Whether what comes stands in the synopsis."""
        return bool(self._outline.path) and self._outline.path[0].upper() in _SYNOPSES

    def text_joined(self, words: str) -> None:
        """Take text that no blank parts from what stands before it."""
        self._joins = bool(self._inline or self._code)
        self.text(words)

    def text(self, words: str, *, joins: bool = False) -> None:
        """Take a line of text. With `joins` the next one follows without a blank."""
        if self._code is not None:
            if self._joins and self._code:
                self._code[-1] += words
            else:
                self._code.append(words)
        elif not words.strip() and not self._joins and not joins:
            self.paragraph()
        else:
            if words[:1] in (" ", "\t") and not self._joins:
                self.line_break()
            if self._inline and not self._joins and self._inline[-1] != "\n":
                self._inline.append(" ")
            self._inline.append(words.strip(" \t") if not joins else words.lstrip(" \t"))
        self._joins = joins

    def line_break(self) -> None:
        """Begin a new line."""
        self._joins = False
        if self._inline and self._inline[-1] != "\n":
            self._inline.append("\n")

    def heading(self, level: int, title: str) -> None:
        """Begin a section."""
        self._close(0)
        self.depth = 0
        name = one_line(title)
        above = self._outline.enter(level, name)
        self._builder.add(BlockKind.HEADING, name, heading=above)

    def paragraph(self) -> None:
        """End the running text where it is; the entry stays open."""
        self._flush()

    def margin(self) -> None:
        """Begin a paragraph at the margin: an entry of this depth ends."""
        self._close(self.depth)

    def entry(self, name: str) -> None:
        """Begin an entry: its name, its bullet or its number. Names that follow each other share their text."""
        bare = one_line(name)
        self._flush()
        last = self._entries[-1] if self._entries else None
        if last and last.depth == self.depth and not last.has_text and last.names and not _MARKER.match(bare):
            last.names.append(bare)
            self._lines.append(self._indent(-1) + bare)
            return
        is_marker = bool(_MARKER.match(bare))
        self._end_entries(self.depth, keeps_list=is_marker)
        if is_marker:
            self._entries.append(_Entry(self.depth, []))
            self._marker = (bare if any(map(str.isalnum, bare)) and bare != "o" else "-") + " "
            return
        self._flush_list()
        self._entries.append(_Entry(self.depth, [bare]))
        self._lines.append(self._indent(-1) + bare)

    def open_margin(self) -> None:
        """Set the margin further in; a short line just above names what follows."""
        names = [name for part in "".join(self._inline).split("\n") if (name := one_line(part))]
        if names and all(map(self._names_entry, names)):
            self._inline.clear()
            for name in names:
                self.entry(name)
        else:
            self._flush()
        self.depth += 1

    def close_margin(self) -> None:
        """Set the margin back."""
        self._flush()
        self.depth = max(0, self.depth - 1)
        while self._entries and self._entries[-1].depth > self.depth:
            self._entries.pop()

    def begin_code(self) -> None:
        """Keep lines as they are from here."""
        if self._code is None:
            self._flush()
            self._code = []

    def end_code(self) -> None:
        """Fill lines again."""
        held, self._code = self._code, None
        if held is None or not any(line.strip() for line in held):
            return
        self._flush_list()
        self._builder.add(BlockKind.CODE, "\n".join(line.expandtabs() for line in held), heading=self._path)
        for entry in self._entries:
            entry.has_text = True

    def table(self, rows: Sequence[Sequence[str]], *, has_header: bool) -> None:
        """Add a table."""
        self._flush()
        self._flush_list()
        add_rows(self._builder, rows, has_header=has_header, heading=self._path)

    def extract(self) -> Extract:
        """Return all: the title is `ls(1)` with what the page is about."""
        self.end_code()
        self._close(0)
        name = self.name
        title = f"{name}({self.section})" if name and self.section else name
        about = f"{title} - {self.about}" if self.about and title else title
        return self._builder.extract(about, {"section": self.section})

    @property
    def _path(self) -> tuple[str, ...]:
        return (*self._outline.path, *(", ".join(one.names) for one in self._entries if one.is_shown and one.names))

    @staticmethod
    def _names_entry(name: str) -> bool:
        is_sentence = name.endswith((".", ":", ",", ";", "?", "!")) and not name.endswith("...")
        return len(name) <= _LONGEST_NAME and not is_sentence and not _BULLETED.match(name)

    def _indent(self, more: int = 0) -> str:
        return _INDENT * max(0, len(self._entries) + more)

    def _flush(self) -> None:
        if self._code is not None:
            self.end_code()
        self._joins = False
        if not self._inline:
            return
        parts = "".join(self._inline).split("\n")
        self._inline.clear()
        lines = [line for line in (" ".join(part.split()) for part in parts) if line]
        if lines:
            self._write(lines)

    def _write(self, lines: list[str]) -> None:
        bullet = _BULLETED.match(lines[0])
        if bullet and not self._marker:
            self._entries.append(_Entry(self.depth, []))
            self._marker = f"{bullet[1] or '-'} "
            lines[0] = lines[0][bullet.end() :]
        if not self._entries:
            self._add_paragraph("\n".join(lines))
            return
        for entry in self._entries:
            entry.has_text = True
        indent = self._indent(-1) + self._marker if self._marker else self._indent()
        self._marker = ""
        self._lines.append(indent + f"\n{self._indent()}".join(lines))
        self._size += len(self._lines[-1])

    def _add_paragraph(self, text: str) -> None:
        self._flush_list()
        top = self._outline.path[0].upper() if self._outline.path else ""
        if len(self._outline.path) == 1 and top in ("NAME", "BEZEICHNUNG", "NOM", "NOMBRE", "NOME", "NAZWA", "名前"):
            self._learn_name(text)
        kind = BlockKind.CODE if top in _SYNOPSES else BlockKind.PARAGRAPH
        self._builder.add(kind, text, heading=self._outline.path)

    def _learn_name(self, text: str) -> None:
        names, *about = _NAME_DASH.split(one_line(text), maxsplit=1)
        first = names.split(",")[0].strip()
        if self.name.casefold() == first.casefold() or not self.name:
            self.name = first
        if about and not self.about and len(about[0]) <= _LONGEST_TITLE:
            self.about = about[0].rstrip(".")

    def _close(self, depth: int) -> None:
        self._flush()
        self._end_entries(depth, keeps_list=False)

    def _end_entries(self, depth: int, *, keeps_list: bool) -> None:
        ends = [one for one in self._entries if one.depth >= depth]
        if ends and (not keeps_list or self._size > _LONG_LIST or any(one.names for one in ends)):
            self._flush_list()
        self._entries = [one for one in self._entries if one.depth < depth]
        self._marker = ""

    def _flush_list(self) -> None:
        if not self._lines:
            return
        self._builder.add(BlockKind.LIST, "\n".join(self._lines), heading=self._path)
        self._lines.clear()
        self._size = 0
        for entry in self._entries:
            entry.is_shown = True
