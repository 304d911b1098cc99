"""Paragraphs, cells and notes of an RTF file, as they are ended one after another, become blocks."""

from twofold.domain.types import BlockKind
from twofold.ingest.reading import Extract, Outline, TextBuilder, one_line
from twofold.ingest.rows import add_rows


class RtfBlocks:
    """Keeps what is still open: the cells of a row, the rows of a table, the items of a list, notes not yet written."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._items: list[str] = []
        self._notes: list[str] = []
        self._outline = Outline()
        self._builder = TextBuilder()

    def end_cell(self, text: str) -> None:
        """End a cell of a table."""
        self._cells.append(text)

    def end_row(self) -> None:
        """End a row of a table."""
        self._rows.append(self._cells)
        self._cells = []

    def note(self, text: str) -> None:
        """Keep a note until its paragraph ends."""
        self._notes.append(text.strip())

    def end_paragraph(self, text: str, label: str, level: int | None) -> None:
        """End a paragraph outside of tables. `label` is its number in a list, `level` that of a heading."""
        if self._cells:
            self.end_row()
        if text.strip():
            self._end_table()
            self._write(text.strip(), one_line(label), level)
        if self._notes:
            self._end_list()
        for note in self._notes:
            self._builder.add(BlockKind.PARAGRAPH, note, heading=self._outline.path)
        self._notes = []

    def extract(self, title: str, metadata: dict[str, str]) -> Extract:
        """Close what is open and give all."""
        self._end_table()
        self._end_list()
        return self._builder.extract(title, {**metadata})

    def _write(self, text: str, label: str, level: int | None) -> None:
        if level is not None:
            self._end_list()
            title = one_line(f"{label} {text}")
            self._builder.add(BlockKind.HEADING, title, heading=self._outline.enter(level, title))
        elif label:
            numbered = label[-1].isalnum() or label[-1] in ".)"
            self._items.append(f"{label if numbered else '-'} {text}")
        else:
            self._end_list()
            self._builder.add(BlockKind.PARAGRAPH, text, heading=self._outline.path)

    def _end_list(self) -> None:
        self._builder.add(BlockKind.LIST, "\n".join(self._items), heading=self._outline.path)
        self._items = []

    def _end_table(self) -> None:
        if self._rows:
            self._end_list()
            add_rows(self._builder, self._rows, has_header=True, heading=self._outline.path)
            self._rows = []
