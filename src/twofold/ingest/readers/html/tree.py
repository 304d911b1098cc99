"""Walking an HTML tree without recursion, however deep it is nested, and reading text out of parts of it."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from twofold.ingest.readers.html.boilerplate import is_never_content

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

TEXT = "-text"
LINE_BREAK = "\0"  # cannot occur in clean text
BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
    }
)
_WHITE_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")

Predicate = Callable[["LexborNode"], bool]


def walk(
    root: "LexborNode", skip: Predicate, whole: Predicate = lambda _: False
) -> Iterator[tuple["LexborNode", bool]]:
    """Go through a tree in document order: each element on the way in (True) and on the way out (False).

    Nodes that `skip` names are left out with all they hold; nodes that are `whole` are entered and left, not searched.
    Text nodes come once, with True.
    """
    open_elements: list[LexborNode] = []
    node = root.first_child
    while node is not None:
        if node.tag == TEXT:
            yield node, True
        elif not skip(node):
            yield node, True
            first = None if whole(node) else node.first_child
            if first is not None:
                open_elements.append(node)
                node = first
                continue
            yield node, False
        while node.next is None:
            if not open_elements:
                return
            node = open_elements.pop()
            yield node, False
        node = node.next


def inline_text(node: "LexborNode") -> str:
    """Read an element's text as one line; what a browser sets on lines of their own is parted by a blank."""
    parts: list[str] = []
    for inner, entering in walk(node, is_never_content):
        if inner.tag == TEXT:
            parts.append(inner.text_content or "")
        elif inner.tag in BLOCKS or inner.tag == "br":
            parts.append(" ")
        elif entering and inner.tag == "img":
            parts.append(inner.attributes.get("alt") or "")
    return collapse("".join(parts)).replace("\n", " ")


def verbatim_text(node: "LexborNode") -> str:
    """Read an element's text with its white space, as of `pre`."""
    parts: list[str] = []
    for inner, entering in walk(node, is_never_content):
        if inner.tag == TEXT:
            parts.append(inner.text_content or "")
        elif entering and inner.tag == "br":
            parts.append("\n")
    return "".join(parts)


def collapse(text: str) -> str:
    """Collapse white space as a browser does; `LINE_BREAK` becomes a line feed, soft hyphens go."""
    lines = (_WHITE_SPACE.sub(" ", line).strip() for line in text.replace("\xad", "").split(LINE_BREAK))
    return "\n".join(lines).strip()
