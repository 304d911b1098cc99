"""Text for people: colors only where they are wanted, columns, bars. No document can move the cursor."""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, NotFoundError

_UNBOUNDED = 10_000
_RESET = "\x1b[0m"
_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m",
           "cyan": "\x1b[36m", "italic": "\x1b[3m", "mark": "\x1b[1;33m"}  # fmt: skip

_PAINT = re.compile("\x1b\\[[0-9;]*m")

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tabs and new lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the writing direction around
    "\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # nothing to see, or another line
    "\U000e0000-\U000e007f"  # tags, which can hide a text in a text
    "\ud800-\udfff]"  # bytes that are no text
)
"""Characters that act on a terminal or deceive its reader.

Joiners, soft hyphens and variation selectors stay: Persian, Indic scripts and emoji are written with them.
"""


@dataclass(frozen=True, slots=True)
class Screen:
    """A stream to people: whether it shows colors, and how many columns it has; a pipe cuts nothing off."""

    stream: TextIO
    color: bool
    width: int

    @property
    def wraps(self) -> bool:
        """Whether lines end somewhere: on a terminal, not in a pipe."""
        return self.width < _UNBOUNDED

    def line(self, text: str = "") -> None:
        """Write one line. `text` is our own or has been through `printable`."""
        self.stream.write(text + "\n")

    def paint(self, text: str, style: str) -> str:
        """Color a text where colors are wanted."""
        return f"{_STYLES[style]}{text}{_RESET}" if self.color else text


def screen_on(stream: TextIO | None = None) -> Screen:
    """Look at a stream, standard output unless given. NO_COLOR, a pipe and a dumb terminal get plain text."""
    asked = sys.stdout if stream is None else stream
    terminal = asked.isatty()
    color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(asked, color, shutil.get_terminal_size().columns if terminal else _UNBOUNDED)


def printable(text: str) -> str:
    """Show control characters as escapes such as `<backslash>x1b`, so that a document can do nothing to a terminal.

    New lines and tabs stay. Characters that reverse the writing direction or cannot be seen are shown as well.
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def printable_json(text: str) -> str:
    r"""Write the same characters of a JSON text as JSON's own escapes, which every reader turns back.

    >>> printable_json('"\x9b31m"')
    '"\\u009b31m"'
    """
    return _UNSAFE.sub(lambda found: json.dumps(found.group())[1:-1], text)


def one_line(text: str) -> str:
    """Make a text printable and put it on one line: white space of any kind becomes one blank."""
    return printable(" ".join(text.split()))


def width_of(text: str) -> int:
    """Count the columns a text takes: wide East Asian characters take two, combining marks and colors none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in _PAINT.sub("", text)
    )


def shortened(text: str, width: int) -> str:
    """Cut a text to a number of columns, with an ellipsis where something is missing."""
    if width_of(text) <= width:
        return text
    kept = text[:width]
    while kept and width_of(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def from_here(source: str) -> str:
    """Write a source as seen from the current folder, where it lies below it; as one line that holds no controls."""
    try:
        here = Path.cwd().as_posix().rstrip("/") + "/"
    except FileNotFoundError:  # the folder was deleted under the shell
        here = "//"
    return one_line(source.removeprefix(here))


def shortened_path(text: str, width: int) -> str:
    """Cut a path to a number of columns from the left, where it says least."""
    if width_of(text) <= width:
        return text
    kept = text[-width:]
    while kept and width_of(kept) > width - 1:
        kept = kept[1:]
    return "…" + kept


def columns(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Line up rows of cells, two blanks between; columns in `right` end flush. Trailing blanks are left off.

    >>> columns([["a", "10"], ["bcd", "9"]], right=frozenset({1}))
    ['a    10', 'bcd   9']
    """
    count = max((len(row) for row in rows), default=0)
    widths = [max(width_of(row[place]) for row in rows if place < len(row)) for place in range(count)]
    return ["  ".join(_padded(cell, widths[at], at in right) for at, cell in enumerate(row)).rstrip() for row in rows]


def _padded(cell: str, width: int, right: bool) -> str:  # noqa: FBT001
    blanks = " " * (width - width_of(cell))
    return blanks + cell if right else cell + blanks


def bar(share: float, cells: int = 10) -> str:
    """Draw a share in [0, 1] in eighths of a cell.

    >>> bar(0.55, 4)
    '██▏ '
    """
    eighths = round(max(0.0, min(1.0, share)) * cells * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + " ▏▎▍▌▋▊▉"[rest] * (rest > 0)).ljust(cells)


def lasting(seconds: float) -> str:
    """Return a length of time: `0:07`, `1:02:03`.

    >>> lasting(7.4), lasting(3723)
    ('0:07', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


STANDARD_INPUT = Path("-")
MAX_LINE_LENGTH = 1_000_000  # bytes
_REMEDY = "Write one JSON object a line, in UTF-8."


class Line(NamedTuple):
    """One line by its number, from 1, and the object that it holds, or what is wrong with it."""

    number: int
    held: Mapping[str, object] | InvalidInputError


def lines_of(path: Path) -> Iterator[Line]:
    """Read a file line by line; empty lines are passed over. Raises NotFoundError for a file that cannot be read."""
    try:
        opened = nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else path.open("rb")
    except OSError as error:
        raise NotFoundError(f"Cannot read {path}: {error.strerror}.", "Check its name.") from error
    with opened as file:
        for number, written in enumerate(_whole_lines(file), start=1):
            if written.strip():
                yield Line(number, _read(written))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Return the lines; of one that is too long, so much that it shows."""
    while written := file.readline(MAX_LINE_LENGTH + 1):
        rest = written
        while len(rest) > MAX_LINE_LENGTH and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE_LENGTH + 1)
        yield written


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return held


def _read(written: bytes) -> Mapping[str, object] | InvalidInputError:
    if len(written) > MAX_LINE_LENGTH:
        return InvalidInputError(f"The line is longer than {MAX_LINE_LENGTH:,} bytes.", _REMEDY)
    try:
        held = json.loads(written.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return InvalidInputError(f"The line is not JSON: {error}.", _REMEDY)
    return held if isinstance(held, dict) else InvalidInputError("The line is not a JSON object.", _REMEDY)
