"""Text that is written as it comes, broken between words where a terminal ends; a pipe gets it as it is."""

import re
from textwrap import wrap

from twofold.cli.render.terminal import Screen, width_of

_PIECE = re.compile(r"\n|[^\S\n]+|\S+")


def wrapped(screen: Screen, text: str, indent: str) -> str:
    """Indent a printable text; on a terminal, in lines that fit."""
    if not screen.wraps:
        return indent + text
    width = max(len(indent) + 20, screen.width)
    return "\n".join(wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False))


class WordWrap:
    """Writes pieces of a text to a screen. A word is held back until it is whole; `end` writes the last one."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._held = ""
        self._column = 0
        self._gap = ""

    def write(self, text: str) -> None:
        """Write what is whole of the text so far, which is printable: it may have colors."""
        if not self._screen.wraps:
            self._screen.stream.write(text)
        else:
            pieces = _PIECE.findall(self._held + text)
            self._held = pieces.pop() if pieces and not pieces[-1].isspace() else ""
            for piece in pieces:
                self._place(piece)
        self._screen.stream.flush()

    def end(self) -> None:
        """Write the word that was held back, and end the line."""
        if self._held:
            self._place(self._held)
        self._held, self._gap, self._column = "", "", 0
        self._screen.line()

    def _place(self, piece: str) -> None:
        if piece == "\n":
            self._screen.stream.write("\n")
            self._gap, self._column = "", 0
        elif piece.isspace():
            self._gap = piece
        else:
            width = width_of(self._gap + piece)
            if self._column and self._column + width > self._screen.width:
                self._screen.stream.write("\n")
                self._gap, self._column, width = "", 0, width_of(piece)
            self._screen.stream.write(self._gap + piece)
            self._gap, self._column = "", self._column + width
