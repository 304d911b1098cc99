"""Which elements of a page are not its content: menus, scripts, forms, hidden parts. It knows nothing of layout."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NEVER_CONTENT = frozenset(
    {
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "svg",
        "math-annotation",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "map",
        "input",
        "select",
        "button",
        "textarea",
        "datalist",
        "optgroup",
        "option",
        "-comment",
        "!doctype",
    }
)
_MENUS = frozenset({"nav", "aside", "dialog"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"})
_NAMES = frozenset(
    {
        "nav",
        "navbar",
        "navigation",
        "menu",
        "breadcrumb",
        "breadcrumbs",
        "sidebar",
        "footer",
        "site-footer",
        "site-header",
        "toc",
        "cookie-banner",
        "cookie-consent",
        "skip-link",
        "headerlink",
        "noprint",
        "printfooter",
        "interlanguage-link",
        "mw-editsection",
        "mw-indicators",
        "mw-portlet",
        "navbox",
        "vector-menu",
        "mw-jump-link",
    }
)
_BODIES = frozenset({"html", "body", "main", "article"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CONTENT_IN_A_FORM = "h1, h2, h3, article, p + p, table table"
_CONTENT_IN_A_HEADER = "h1, h2, p"


def is_boilerplate(node: "LexborNode") -> bool:
    """Return whether an element, with everything in it, is not part of what the page has to say."""
    tag = node.tag
    if tag in NEVER_CONTENT:
        return True
    if tag in _BODIES:
        return False
    if tag in _MENUS:
        return True
    if tag == "form":
        return node.css_first(_CONTENT_IN_A_FORM) is None
    if tag in ("header", "footer"):
        return _is_page_frame(node, tag)
    return _is_marked(node)


def is_never_content(node: "LexborNode") -> bool:
    """Say the same more mildly, for pages on which nothing is left otherwise."""
    return node.tag in NEVER_CONTENT


def _is_page_frame(node: "LexborNode", tag: str) -> bool:
    """Tell a page's own header and footer from those of an article or a quotation."""
    parent = node.parent
    while parent is not None:
        if parent.tag in ("article", "main", "blockquote", "section"):
            return False
        parent = parent.parent
    return tag == "footer" or node.css_first(_CONTENT_IN_A_HEADER) is None


def _is_marked(node: "LexborNode") -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true":
        return True
    if (attributes.get("role") or "").lower() in _ROLES:
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style):
        return True
    names = f"{attributes.get('id') or ''} {attributes.get('class') or ''}".lower().split()
    return not _NAMES.isdisjoint(names)
