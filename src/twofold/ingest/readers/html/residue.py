"""What is left of a page's frame among its blocks, recognized by its text: rows of links, notices, credits.

Markup often does not say what is navigation. Blocks of links before the first sentence of a page or after its last one,
rows of the words that lead from page to page, and short notices about cookies, sharing and tools are no content.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from twofold.domain.types import BlockKind
from twofold.ingest.readers.html.boilerplate import NAVIGATION
from twofold.ingest.readers.types import Extract

NOTICE = "notice"
_IN_LINKS = 0.8
_CONTENT_CHARACTERS = 40
_LONGEST_ROW = 160
_LONGEST_NOTICE = 320
_LAST_BLOCKS = 4
_MOST_LOST = 0.5
_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE})
_PARTS = re.compile(r"[|\u00bb\u00ab\u203a\u2039\u2022\u00b7\u2192\u2190\u2191/\[\]()<>,:\n-]+")
_LEADS = re.compile(
    r"(?:prev(?:ious)?|next|up|home|top|back|contents?|table of contents|toc|index|search|modules?|genindex|start|main|"
    r"first|last|menu|navigation|fast (?:backward|forward)|skip(?: to (?:main )?content)?|[a-z])"
    r"(?: (?:page|chapter|section|topic|to top|group))?",
    re.IGNORECASE,
)
_NOTICES = re.compile(
    r"(?:we|(?:this|our) (?:web)?site) uses? cookies|accept (?:all )?cookies|cookie (?:policy|settings|preferences)"
    r"|(?:share|tweet|like|pin) (?:this|on|via)\b|follow us\b|subscribe to our|sign up for our"
    r"|was this (?:page|article) helpful|skip to (?:main )?content|edit (?:this page )?on git(?:hub|lab)"
    r"|report an? (?:issue|bug) (?:with|on) this|enable javascript|javascript (?:is|must be) (?:disabled|enabled)"
    r"|all rights reserved",
    re.IGNORECASE,
)
_CREDITS = re.compile(
    r"(?:created|generated|built|produced|made|powered) (?:using|by|with|on)\b"
    r"|last (?:updated|modified|changed|revised)|this page (?:was )?last"
    r"|(?:\u00a9|\(c\)|copyright)\s*(?:\u00a9|\(c\)|copyright)?\s*(?:19|20)\d\d",
    re.IGNORECASE,
)


def residue(extract: Extract, linked: Sequence[int]) -> Mapping[int, str]:
    """Return the numbers of blocks that are no content, and why; `linked` counts each one's characters in links.

    Nothing is taken for navigation by its links alone where the page would lose most of its text.
    """
    texts = [extract.text[block.start : block.end] for block in extract.blocks]
    certain = dict(_certain(extract, texts))
    edges = dict.fromkeys(_edges(extract, texts, linked, certain), NAVIGATION)
    left = len(extract.text) - sum(len(texts[number]) for number in certain)
    lost = sum(len(texts[number]) for number in edges)
    found = certain if lost > _MOST_LOST * left else {**certain, **edges}
    found = {**found, **dict.fromkeys(_bare_headings(extract, found), NAVIGATION)}
    return {} if len(found) == len(texts) else found


def _certain(extract: Extract, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, (block, text) in enumerate(zip(extract.blocks, texts, strict=True)):
        if block.kind not in _KINDS:
            continue
        if _leads_on(text):
            yield number, NAVIGATION
        elif len(text) <= _LONGEST_NOTICE and (
            _NOTICES.search(text) or (number >= len(texts) - _LAST_BLOCKS and _CREDITS.match(text.lstrip()))
        ):
            yield number, NOTICE


def _leads_on(text: str) -> bool:
    """Return whether a block is a row of words that lead to other pages, such as "Prev | Up | Next"."""
    if len(text) > _LONGEST_ROW:
        return False
    parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
    leads = sum(_LEADS.fullmatch(part) is not None and len(part) > 1 for part in parts)
    return leads > 1 and 2 * leads > len(parts)


def _edges(extract: Extract, texts: Sequence[str], linked: Sequence[int], certain: Mapping[int, str]) -> Iterator[int]:
    """Go through blocks of links before the first content of a page, and after its last one."""
    order = range(len(texts))
    for numbers in (order, reversed(order)):
        for number in numbers:
            block, length = extract.blocks[number], len("".join(texts[number].split()))
            in_links = linked[number] >= _IN_LINKS * length
            if block.kind is BlockKind.HEADING or number in certain:
                continue
            if not in_links and (len(texts[number]) >= _CONTENT_CHARACTERS or block.kind not in _KINDS):
                break
            if in_links and block.kind in _KINDS:
                yield number


def _bare_headings(extract: Extract, gone: Mapping[int, str]) -> Iterator[int]:
    """Go through headings below which nothing is left but what is gone."""
    empty = False
    for number in range(len(extract.blocks) - 1, -1, -1):
        if number in gone:
            empty = True
        elif extract.blocks[number].kind is BlockKind.HEADING and empty and extract.blocks[number].heading:
            yield number
        else:
            empty = False
