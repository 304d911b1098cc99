"""HTML: the page's content as blocks under its headings, without menus, scripts, forms and hidden parts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from twofold.domain.errors import ReadError
from twofold.domain.types import Metadata, MetadataValue
from twofold.ingest.boilerplate import without
from twofold.ingest.decode import decode
from twofold.ingest.readers.html.boilerplate import boilerplate_of, is_never_content
from twofold.ingest.readers.html.flow import Flow, is_atomic
from twofold.ingest.readers.html.residue import residue
from twofold.ingest.readers.html.tree import TEXT, inline_text, walk
from twofold.ingest.readers.types import Extract, Source, TextBuilder, clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,500}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE
)
_MAX_DEPTH = 10_000
# Elements that stay open until they are closed; others (`p`, `li`, `td`, `br`, …) end when the next one begins.
_NESTING = re.compile(
    r"<(/?)(?:a|abbr|address|article|aside|b|big|blockquote|button|center|cite|code|del|details|dfn|dialog|dir|div|dl"
    r"|em|fieldset|figcaption|figure|font|footer|form|g|header|hgroup|i|ins|kbd|label|main|mark|math|menu|nav|nobr"
    r"|object|ol|pre|q|s|samp|section|select|small|span|strike|strong|sub|summary|sup|svg|table|template|tt|u|ul|var"
    r"|[a-z]+-[a-z-]+)(?=[\s/>])",
    re.IGNORECASE,
)
_META_NAMES: Mapping[str, str] = {
    "description": "description",
    "og:description": "description",
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "dcterms.created": "date",
    "article:published_time": "date",
    "keywords": "keywords",
}


def read_html(source: Source) -> Extract:
    """Read an HTML page. The encoding it declares counts where its bytes are not UTF-8."""
    declared = _CHARSET.search(source.data[:4096])
    decoded = decode(source.data, declared[1].decode("ascii") if declared else "")
    return extract_html(decoded.text, decoded.metadata)


def extract_html(markup: str, metadata: Metadata | None = None) -> Extract:
    """Read HTML that is text already, such as a mail's body or a book's chapter.

    A page on which everything looks like menus and forms is read whole rather than as nothing.
    Raises ReadError of kind `limit` for elements nested deeper than 10,000.
    """
    from selectolax.lexbor import LexborHTMLParser

    _check_depth(markup)
    tree = LexborHTMLParser(clean(markup))
    root = tree.body or tree.root
    if root is None:
        return TextBuilder().extract("", metadata)
    found = {**(metadata or {}), **_metadata(tree)}
    flow = _flow(root, milder=False)
    if flow.builder.length == 0:
        return _flow(root, milder=True).builder.extract(_title(tree), found)
    extract = flow.builder.extract(_title(tree), found)
    gone = residue(extract, flow.linked)
    for number, reason in gone.items():
        block = extract.blocks[number]
        flow.builder.drop(extract.text[block.start : block.end], reason)
    text, blocks = without(extract.text, extract.blocks, gone)
    return replace(extract, text=text, blocks=blocks, dropped=flow.builder.extract().dropped)


def _check_depth(markup: str) -> None:
    """Refuse deep nesting before parsing: a parser's time grows with the square of it (a million: half an hour)."""
    depth = 0
    for tag in _NESTING.finditer(markup):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _MAX_DEPTH:
            raise ReadError(f"its elements are nested deeper than {_MAX_DEPTH:,}", "Simplify the page.", "limit")


def _flow(root: "LexborNode", *, milder: bool) -> Flow:
    flow = Flow()

    def skip(node: "LexborNode") -> bool:
        if is_never_content(node):
            return True
        reason = "" if milder else boilerplate_of(node)
        if reason:
            flow.builder.drop(inline_text(node), reason)
        return bool(reason)

    for node, entering in walk(root, skip, is_atomic):
        if node.tag == TEXT:
            flow.text(node.text_content or "")
        elif entering:
            flow.enter(node)
        else:
            flow.leave(node)
    flow.finish()
    return flow


def _title(tree: "LexborHTMLParser") -> str:
    for selector in ("head title", "title", "h1"):
        found = tree.css_first(selector)
        title = inline_text(found) if found is not None else ""
        if title:
            return title
    return ""


def _metadata(tree: "LexborHTMLParser") -> Metadata:
    found: dict[str, MetadataValue] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        asked = (attributes.get("name") or attributes.get("property") or "").lower()
        name = _META_NAMES.get(asked)
        if name and name not in found:
            found[name] = " ".join((attributes.get("content") or "").split())
    page = tree.css_first("html")
    language = page.attributes.get("lang") if page is not None else None
    return {**found, "language": language} if language else found
