"""The views of the page: an address with something to see, and what is there once it is seen."""

from support.api_client import Visit

VIEWS = {
    "ask": "/ask?index=notes",
    "search": "/search?index=notes&q=tower+in+Paris",
    "explain": "/search?index=notes&q=tower+in+Paris&explain=1",
    "library": "/library?index=notes",
    "document": "/document?index=notes&doc={alps}&tab=passages",
    "compare": "/compare?index=notes&q=tower+in+Paris",
    "compare-set": "/compare?index=boats&set=judged",
    "judge": "/judge?index=notes&q=tower+in+Paris",
    "experiments": "/experiments?index=notes",
    "settings": "/settings?index=notes",
    "kept": "/library?index=notes",
    "fields": "/document?index=notes&doc={alps}",
    "docs": "/docs",
}
READY = {
    "ask": "#question",
    "search": ".hit",
    "explain": ".ladder",
    "library": ".row-name",
    "document": ".chunk",
    "compare": ".move",
    "compare-set": ".wins",
    "judge": ".grades",
    "experiments": ".configuration",
    "settings": "#tokens",
    "kept": ".row-name",
    "fields": ".doc-body",
    "docs": "article",
}


def address(visit: Visit, view: str) -> str:
    """Return the address of a view on a server that holds `alps.pdf` in the index notes."""
    alps = visit.client.get("/v1/indexes/notes/documents?q=alps").json()["documents"][0]["id"]
    return VIEWS[view].format(alps=alps)
