"""Marks of Markdown (and those that reStructuredText and AsciiDoc share with it), drawn as a terminal can.

A pipe gets the text as it is written, and so does a terminal without colors: Markdown is what other programs read, and
what a citation holds. What is no whole mark stays. The page does the same (`server/static/markup.js`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from twofold.cli.render.terminal import Screen, printable

if TYPE_CHECKING:
    from twofold.answer.types import Source

_WRITTEN = re.compile(r"\.(?:md|markdown|mdx|qmd|rmd|rst|adoc)(?:\.gz)?$", re.IGNORECASE)
_IN = r"(?:(?!\n\s*\n)[\s\S])"  # a character of the same paragraph
_TARGET = r"\(<?[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)?>?(?:\s+\"[^\"\n]*\")?\)"
_WORD = r"[^\W_]"
_INLINE = "|".join(
    (
        r"\\(?P<escaped>[!-/:-@\[-`{-~])",
        rf"(?<!`)(?P<ticks>`+)(?!`)(?P<code>{_IN}{{0,400}}?[^`])(?P=ticks)(?![`_])",
        rf"!?\[(?P<linked>[^\[\]\n]{{0,300}}(?:\[[^\[\]\n]*\][^\[\]\n]*)?)\]{_TARGET}",
        r"(?<![\w\]])\[(?!\d+\])(?P<named>[^\[\]\n]{1,300})\]\[[^\[\]\n]{0,100}\]",
        r"<(?P<address>https?://[^\s<>]{1,500})>",
        rf"(?<!\*)\*\*(?=[^\s*]|\*[^\s*])(?P<strong>{_IN}{{1,400}}?)(?<=\S)\*\*(?!\*)",
        rf"(?<!\w)__(?=[^\s_])(?P<strong_>{_IN}{{1,400}}?)(?<=[^\s_])__(?!\w)",
        rf"(?<!{_WORD})(?<![_*])\*(?=[^\s*])(?P<em>{_IN}{{1,400}}?)(?<=[^\s*])\*(?!{_WORD}|[_*])",
        rf"(?<!\w)_(?=[^\s_])(?P<em_>{_IN}{{1,400}}?)(?<=[^\s_])_(?!\w)",
    )
)
"""Compiled when it is first used: most commands never do."""
_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*(\n?)$", re.DOTALL)
_RULE = re.compile(r"\s{0,3}([-*_=])(?:[ \t]*\1){2,}\s*$")
_QUOTED = re.compile(r"^(?:[ \t]{0,3}>[ \t]?)+")
_ITEM = re.compile(r"^(\s*)[-*+][ \t]+(?:\[([ xX])\][ \t]+)?")
_MARKER = re.compile(r"\[(\d{1,3})\]")
_BOXES = {None: "•", " ": "☐", "x": "☑", "X": "☑"}
_STYLES = {"code": "cyan", "strong": "bold", "em": "italic"}
_DEEPEST = 4


class Run(NamedTuple):
    """A stretch of text, and how it is shown: `code`, `strong`, `em`."""

    text: str
    kinds: tuple[str, ...] = ()


def has_marks(source: str) -> bool:
    """Return whether a document has marks to draw, by its name.

    >>> has_marks("notes/README.md"), has_marks("notes/list.txt")
    (True, False)
    """
    return _WRITTEN.search(source) is not None


def unmarked(text: str) -> str:
    """Return a text without its marks.

    >>> unmarked("See [the **manual**](https://example.org) of `a_b_c`, 2 * 3.")
    'See the manual of a_b_c, 2 * 3.'
    """
    return "".join(run.text for run in _runs(text))


def painted(screen: Screen, text: str) -> str:
    """Return a printable text with its marks drawn, where the screen has colors."""
    if not screen.color:
        return text
    return "".join(_painted(screen, run) for run in _runs(text))


def _painted(screen: Screen, run: Run) -> str:
    if not run.text.strip():
        return run.text
    for kind in reversed(run.kinds):
        run = Run(screen.paint(run.text, _STYLES[kind]), run.kinds)
    return run.text


def _runs(text: str) -> Iterator[Run]:
    lines = text.splitlines(keepends=True)
    paired = sum(_FENCE.match(line) is not None for line in lines) % 2 == 0
    prose, within = "", False
    for line in lines:
        heading = None if within else _HEADING.match(line)
        if _FENCE.match(line):
            yield from _inline(prose)
            prose, within = "", paired and not within
        elif within:
            yield Run(line, ("code",))
        elif heading:
            yield from (*_inline(prose), *_inline(heading[1], ("strong",)))
            prose = heading[2]
        elif not _RULE.match(line):
            prose += _ITEM.sub(lambda found: f"{found[1]}{_BOXES[found[2]]} ", _QUOTED.sub("", line))
    yield from _inline(prose)


def _inline(text: str, kinds: tuple[str, ...] = ()) -> Iterator[Run]:
    at = 0
    for found in re.finditer(_INLINE, text) if len(kinds) < _DEEPEST else ():
        yield Run(text[at : found.start()], kinds)
        at = found.end()
        held = {name.rstrip("_"): inside for name, inside in found.groupdict().items() if inside is not None}
        if "code" in held:
            code = held["code"]
            bare = code[1:-1] if code[0] == code[-1] == " " and code.strip() else code
            yield Run(bare, (*kinds, "code"))
        elif plain := held.get("escaped", held.get("address")):
            yield Run(plain, kinds)
        else:
            kind = next((one for one in ("strong", "em") if one in held), "")
            inside = held.get(kind) or held.get("linked") or held.get("named") or ""
            yield from _inline(inside, (*kinds, kind) if kind else kinds)
    yield Run(text[at:], kinds)


def drawn(screen: Screen, text: str, sources: Sequence["Source"], *, written: bool = False) -> str:
    """Return an answer, or a part of it that ends with a marker, as a screen shows it.

    Drawn is what a model has `written`, and what comes of a document with marks: the next marker names it.
    """
    shown, at, number = "", 0, 0
    for found in (*_MARKER.finditer(text), None):
        end = len(text) if found is None else found.end()
        number = int(found[1]) if found else number
        source = next((one.source for one in sources if one.number == number), "")
        part = printable(text[at:end])
        shown, at = shown + (painted(screen, part) if written or has_marks(source) else part), end
    return shown
