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
NAVIGATION = "navigation"
_MENUS = frozenset({"nav", "aside", "dialog"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"})
_NAMES = frozenset(
    {
        "nav",
        "navbar",
        "navheader",
        "navfooter",
        "sphinxsidebar",
        "globaltoc",
        "localtoc",
        "rst-footer-buttons",
        "wy-nav-side",
        "share-buttons",
        "social-share",
        "sharing",
        "navigation",
        "menu",
        "breadcrumb",
        "breadcrumbs",
        "sidebar",
        "footer",
        "site-footer",
        "site-header",
        "toc",
        "list-of-examples",
        "list-of-figures",
        "list-of-tables",
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


def boilerplate_of(node: "LexborNode") -> str:
    """Return why an element, with everything in it, is not part of what the page has to say; "" where it is."""
    tag = node.tag
    if tag in _BODIES:
        return ""
    if tag in _MENUS:
        return NAVIGATION
    if tag == "form":
        return "form" if node.css_first(_CONTENT_IN_A_FORM) is None else ""
    if tag in ("header", "footer"):
        return f"page {tag}" if _is_page_frame(node, tag) else ""
    return _marked(node)


def is_never_content(node: "LexborNode") -> bool:
    """Return whether an element holds no text of the page at all: a script, a form's field, a picture."""
    return node.tag in NEVER_CONTENT


def _is_page_frame(node: "LexborNode", tag: str) -> bool:
    """Return whether a header or footer is the page's own, not an article's."""
    parent = node.parent
    while parent is not None:
        if parent.tag in ("article", "main", "blockquote", "section"):
            return False
        parent = parent.parent
    return tag == "footer" or node.css_first(_CONTENT_IN_A_HEADER) is None


def _marked(node: "LexborNode") -> str:
    attributes = node.attributes
    if not attributes:
        return ""
    style = attributes.get("style")
    concealed = "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true"
    if concealed or (style and _HIDDEN_STYLE.search(style)):
        return "hidden"
    names = f"{attributes.get('id') or ''} {attributes.get('class') or ''}".lower().split()
    is_menu = (attributes.get("role") or "").lower() in _ROLES or not _NAMES.isdisjoint(names)
    return NAVIGATION if is_menu else ""
