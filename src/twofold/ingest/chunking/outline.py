"""A document's blocks put in order: trimmed, none overlapping, nothing of the text left out, each with its section.

What a reader forgot between its blocks becomes paragraphs; a document without blocks is paragraphs by blank lines.
It knows nothing of tokens or sizes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from twofold.domain.types import Block, BlockKind, Document

Path = tuple[str, ...]

_BLANK_LINE = re.compile(r"\n\s*\n")
_WORD = re.compile(r"[^\W_]")
_MARKUP = "#=-* \t\r\n"
_INDENTED = frozenset({BlockKind.CODE, BlockKind.TABLE})


def outline(document: Document) -> list[Block]:
    """Return the document's blocks in reading order, without overlap, covering every character that is not white space.

    A heading's path is that of the section it opens, itself included. Spans outside the text are clipped.
    """
    text = document.text
    whole = (trim(text, block) for block in _without_gaps(text, document.blocks))
    return _with_sections(text, [block for block in whole if block.start < block.end])


def with_title(path: Path, title: str) -> Path:
    """Put the document's title in front of a heading path, unless it stands there already, in whatever case."""
    if not title.strip() or (path and _plain(path[0]) == _plain(title)):
        return path
    return (_one_line(title), *path)


def common_path(paths: Iterable[Path]) -> Path:
    """Return the longest path that all of them begin with; of none, the empty path.

    `("Guide", "Install", "Linux")` and `("Guide", "Install", "Windows")` give `("Guide", "Install")`.
    """
    distinct = set(paths)
    if not distinct:
        return ()
    low, high = min(distinct), max(distinct)  # what the first and the last in order share, all share
    length = next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    return low[:length]


def trim(text: str, block: Block) -> Block:
    """Draw a block's ends in to what is not white space; code and tables keep the indentation of their first line."""
    start, end = trimmed(text, block.start, block.end)
    if block.kind in _INDENTED and start < end:
        start = max(block.start, text.rfind("\n", block.start, start) + 1)
    return replace(block, start=start, end=end)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Draw a span in to what is not white space; of nothing but white space, give an empty span."""
    found = text[start:end]
    left = found.lstrip()
    start = end - len(left)
    return start, start + len(left.rstrip())


def _without_gaps(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Order and clip the blocks, and give what lies between them to paragraphs of their own, or to a neighbor."""
    previous: Block | None = None
    for block in sorted(blocks, key=lambda one: (one.start, one.end)):
        at = previous.end if previous else 0
        start, end = max(block.start, at), min(block.end, len(text))
        if start >= end:
            continue
        gap = text[at:start]
        if _WORD.search(gap):
            if previous:
                yield previous
            yield from _paragraphs(text, at, start, previous or replace(block, heading=(), place=""))
            previous = replace(block, start=start, end=end)
            continue
        # Marks without a word (a code fence, the # of a heading) stay with the block whose line they stand on.
        own_line = at + gap.rfind("\n") + 1 if previous else at
        if previous:
            yield replace(previous, end=own_line)
        previous = replace(block, start=own_line, end=end)
    if previous:
        yield previous
    at = previous.end if previous else 0
    yield from _paragraphs(text, at, len(text), previous or Block(BlockKind.PARAGRAPH, 0, 0))


def _paragraphs(text: str, start: int, end: int, near: Block) -> Iterator[Block]:
    """Cut a stretch at blank lines; each part takes section, page and place from the block near it."""
    model = replace(near, kind=BlockKind.PARAGRAPH, header="")
    if near.kind is BlockKind.HEADING:
        model = replace(model, heading=_section_of(text, near, None))
    for gap in _BLANK_LINE.finditer(text, start, end):
        yield replace(model, start=start, end=gap.start())
        start = gap.end()
    yield replace(model, start=start, end=end)


def _with_sections(text: str, blocks: list[Block]) -> list[Block]:
    """Return each heading the path of the section that it opens, or of the first one nested in it that has any text.

    Without the latter, "# Guide" straight before "## Install" would be a section of one word, or would take the label
    "Install" from the passage that begins with both.
    """
    following: Block | None = None
    found: list[Block] = []
    for block in reversed(blocks):
        opened = block
        if block.kind is BlockKind.HEADING:
            own = _section_of(text, block, following)
            nested = following and following.page == block.page and found[-1].heading[: len(own)] == own
            opened = replace(block, heading=found[-1].heading if nested else own)
        found.append(opened)
        following = block
    return found[::-1]


def _section_of(text: str, heading: Block, following: Block | None) -> Path:
    """Return the path of the section that a heading opens: the path above it and its own words."""
    own = _one_line(text[heading.start : heading.end].strip(_MARKUP))
    above = heading.heading
    if above and _plain(above[-1]) == _plain(own):
        return above
    if following and len(following.heading) > len(above) and following.heading[: len(above)] == above:
        return following.heading[: len(above) + 1]
    return (*above, own) if own else above


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return _one_line(text).casefold()
