"""Plain text, and AsciiDoc, reStructuredText and LaTeX, whose headings are found by simple rules.

The extracted text is the file's own text; markup other than headings stays where it is.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from twofold.domain.types import Block, Metadata
from twofold.ingest.decode import decode
from twofold.ingest.readers.text_blocks import HeadingSpan, Line, lines_of, paragraphs, sections
from twofold.ingest.readers.types import Extract, Source, clean, clean_metadata, one_line

_ASCIIDOC_HEADING = re.compile(r"(={1,6}) (\S.*)")
_ASCIIDOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|```\S*)\s*")
_VERBATIM_FENCE = ("-", ".", "+", "/", "`")
_ATTRIBUTE = re.compile(r":([A-Za-z][\w-]*):(?: (.*))?")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_LATEX_HEADING = re.compile(
    r"^[ \t]*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?"
    r"(?:\[[^\]\n]{0,200}\])?\{((?:[^{}\n]|\{[^{}\n]{0,200}\}){1,400})\}",
    re.MULTILINE,
)
_LATEX_TITLE = re.compile(r"\\title\s{0,4}(?:\[[^\]]{0,200}\])?\{((?:[^{}]|\{[^{}]{0,200}\}){1,400})\}")
_LATEX_COMMAND = re.compile(r"\\(?:[A-Za-z]{1,40}\*?|.)|[{}~]")
_LATEX_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}


def read_text(source: Source) -> Extract:
    """Read plain text: one block for each paragraph."""
    decoded = decode(source.data)
    text = clean(decoded.text)
    return Extract(text, tuple(paragraphs(text)), metadata=decoded.metadata)


def read_asciidoc(source: Source) -> Extract:
    """Read AsciiDoc: `=` headings make the outline, header attributes the metadata."""
    text, metadata = _decoded(source)
    headings = list(_asciidoc_headings(text))
    own_title = headings[0].title if headings and headings[0].level == 1 else ""
    attributes = _asciidoc_attributes(text)
    return _extract(text, sections(text, headings), own_title, {**metadata, **attributes})


def read_rest(source: Source) -> Extract:
    """Read reStructuredText: adorned lines make the outline, levels in order of first use."""
    text, metadata = _decoded(source)
    headings = list(_rest_headings(text))
    return _extract(text, sections(text, headings), headings[0].title if headings else "", metadata)


def read_latex(source: Source) -> Extract:
    """Read LaTeX: sectioning commands make the outline."""
    text, metadata = _decoded(source)
    headings = [
        HeadingSpan(found.start(), found.end(), _LATEX_LEVELS[found[1]], _plain_latex(found[2]))
        for found in _LATEX_HEADING.finditer(text)
    ]
    title = _LATEX_TITLE.search(text)
    return _extract(text, sections(text, headings), _plain_latex(title[1]) if title else "", metadata)


def _decoded(source: Source) -> tuple[str, Metadata]:
    decoded = decode(source.data)
    return clean(decoded.text), decoded.metadata


def _extract(text: str, blocks: Iterator[Block], title: str, metadata: Metadata) -> Extract:
    return Extract(text, tuple(blocks), one_line(title), clean_metadata(metadata))


def _asciidoc_headings(text: str) -> Iterator[HeadingSpan]:
    """Find `== Title` lines outside of verbatim blocks."""
    fence = ""
    for line in lines_of(text):
        content = text[line.start : line.end]
        if content[:1] in _VERBATIM_FENCE and _ASCIIDOC_FENCE.fullmatch(content):
            mark = content.strip()
            fence = "" if fence == mark else fence or mark
        heading = None if fence else _ASCIIDOC_HEADING.fullmatch(content)
        if heading is not None:
            yield HeadingSpan(line.start, line.end, len(heading[1]), heading[2].strip().rstrip("= "))


def _asciidoc_attributes(text: str) -> Metadata:
    """Read `:name: value` lines of the header, which ends at the first empty line."""
    found: dict[str, str] = {}
    for line in lines_of(text):
        content = text[line.start : line.end]
        if not content.strip():
            break
        attribute = _ATTRIBUTE.fullmatch(content)
        if attribute is not None and attribute[2]:
            found[attribute[1]] = attribute[2]
    return found


def _rest_headings(text: str) -> Iterator[HeadingSpan]:
    """Find lines with a line of punctuation at least as long beneath them, with or without one above."""
    levels: dict[str, int] = {}
    previous = Line(0, 0)
    closed = 0  # where the last heading ends: its underline is no overline for the next
    for title, under in pairwise(lines_of(text)):
        words, adornment = text[title.start : title.end], text[under.start : under.end].rstrip()
        above, previous = previous, title
        overline = text[above.start : above.end].rstrip() if above.start >= closed else ""
        is_framed = bool(overline) and overline == adornment
        if not words.strip() or (words[0] in " \t" and not is_framed) or _ADORNMENT.fullmatch(words):
            continue
        if not _ADORNMENT.fullmatch(adornment) or len(adornment) < len(words.strip()):
            continue
        style = adornment[0] * (2 if is_framed else 1)
        start = above.start if is_framed else title.start
        yield HeadingSpan(start, under.start + len(adornment), levels.setdefault(style, len(levels) + 1), words.strip())
        closed = under.end


def _plain_latex(text: str) -> str:
    return one_line(_LATEX_COMMAND.sub(" ", text))
