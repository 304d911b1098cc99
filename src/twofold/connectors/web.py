"""Pages of the web: those that a sitemap names, or a list of addresses in a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from twofold.connectors.fetch import AGENT, Fetcher, Page
from twofold.connectors.spool import Spool
from twofold.domain.errors import NotFoundError, ReadError
from twofold.domain.types import DocumentInfo
from twofold.ingest.connector import VERSION, Item
from twofold.ingest.document import content_hash
from twofold.ingest.readers.types import Limits, Source
from twofold.ingest.walk import Skipped, source_name
from twofold.system.paths import real_path

MAX_PAGES = 50_000
MAX_SITEMAPS = 100
GONE = frozenset({404, 410})
NOT_MODIFIED = 304
OK = 200


class WebConnector:
    """Follows the pages of a sitemap (`https://…`), of a file with one address a line, or one page.

    A page that a list dates, or whose server knows its version (`ETag`, `Last-Modified`), is asked for again only when
    it changed. `robots.txt` is obeyed. Pages of private addresses are refused unless `private`.
    """

    def __init__(self, place: str, *, private: bool = False) -> None:
        self._place = place
        self._private = private
        self._spool = Spool()
        self._robots: dict[str, RobotFileParser | None] = {}

    @property
    def root(self) -> str:
        """The address of the sitemap or the page, or the path of the list."""
        return self._place if _is_address(self._place) else f"urls:{source_name(real_path(self._place))}"

    @property
    def origin(self) -> str:
        """`web`."""
        return "web"

    def items(self, known: Mapping[str, DocumentInfo], limits: Limits) -> Iterator[Item | Skipped]:
        """Yield the pages that there are. Raises NotFoundError or ReadError for a list that cannot be fetched."""
        fetcher = Fetcher(limits.file_bytes, self._private)
        for url, dated in self._listed(fetcher).items():
            if not self._may_ask(url, fetcher):
                yield Skipped(url, url, "robots.txt of its site does not allow it")
                continue
            before = str(known[url].metadata.get(VERSION, "")) if url in known else ""
            if dated and before == f"dated {dated}":
                yield Item(url, before)
                continue
            try:
                found = self._request_page(url, before, dated, fetcher)
            except ReadError as error:
                found = Skipped(url, url, error.message)
            if found is not None:
                yield found

    def load(self, item: Item, limits: Limits) -> Source:
        """Return a page as it was fetched while the place was listed, or fetch it. Raises ReadError."""
        if not self._spool.has(item.source):  # as before, and read again for other --meta fields
            page = Fetcher(limits.file_bytes, self._private).fetch(item.source)
            if page.status != OK:
                raise ReadError(f"its server answered {page.status}", "Sync again later.", "unreadable")
            return Source(item.source, page.body, limits)
        return Source(item.source, self._spool.take(item.source), limits)

    def _request_page(self, url: str, before: str, dated: str, fetcher: Fetcher) -> Item | Skipped | None:
        """Ask for a page unless it is as before; None where it is gone."""
        page = fetcher.fetch(url, _conditions(before))
        if page.status == NOT_MODIFIED and before:
            return Item(url, before)
        if page.status in GONE:
            return None
        if page.status != OK:
            return Skipped(url, url, f"its server answered {page.status}")
        version = f"dated {dated}" if dated else _version_of(page)
        if version != before:
            self._spool.put(url, page.body)
        return Item(url, version)

    def _listed(self, fetcher: Fetcher) -> Mapping[str, str]:
        """Return the pages' addresses with the time of their last change."""
        if not _is_address(self._place):
            return _addresses_in(self._place)
        waiting, pages, seen = [self._place], dict[str, str](), 0
        while waiting and seen < MAX_SITEMAPS:
            place, seen = waiting.pop(), seen + 1
            page = fetcher.fetch(place)
            if page.status != OK:
                raise ReadError(f"{place}: its server answered {page.status}", "Check the address.", "unreadable")
            if not _is_sitemap(page.body):
                return {self._place: ""}  # a page by itself
            inner, found = _sitemap(page.body)
            waiting += inner
            pages |= found
        return dict(list(pages.items())[:MAX_PAGES])

    def _may_ask(self, url: str, fetcher: Fetcher) -> bool:
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._robots:
            self._robots[site] = _rules_of(site, fetcher)
        rules = self._robots[site]
        return rules is None or rules.can_fetch(AGENT, url)


def _is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def _conditions(before: str) -> Mapping[str, str]:
    kind, _, value = before.partition(" ")
    names = {"etag": "If-None-Match", "modified": "If-Modified-Since"}
    return {names[kind]: value} if kind in names else {}


def _version_of(page: Page) -> str:
    for kind, name in (("etag", "etag"), ("modified", "last-modified")):
        if page.headers.get(name):
            return f"{kind} {page.headers[name][:200]}"
    return f"hash {content_hash(page.body)}"


def _addresses_in(path: str) -> Mapping[str, str]:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise NotFoundError(f"{path} cannot be read.", "Name a text file with one address a line.") from error
    return dict.fromkeys((line.strip() for line in lines if _is_address(line.strip())), "")


def _is_sitemap(data: bytes) -> bool:
    return b"<urlset" in data[:4_096] or b"<sitemapindex" in data[:4_096]


def _sitemap(data: bytes) -> tuple[list[str], dict[str, str]]:
    """Return the sitemaps and the pages that a sitemap names. Raises ReadError for one that is malformed."""
    try:
        root = defusedxml.ElementTree.fromstring(data)
    except (DefusedXmlException, SyntaxError, ValueError) as error:
        raise ReadError("the sitemap is not XML that can be read", "Check the address.", "malformed") from error
    entries = [({part.tag.rpartition("}")[2]: (part.text or "").strip() for part in one}) for one in root]
    named = [one for one in entries if _is_address(one.get("loc", ""))]
    if root.tag.rpartition("}")[2] == "sitemapindex":
        return [one["loc"] for one in named], {}
    return [], {one["loc"]: one.get("lastmod", "") for one in named}


def _rules_of(site: str, fetcher: Fetcher) -> RobotFileParser | None:
    """Return what a site asks of robots; None where it asks nothing. A site that cannot say forbids everything."""
    rules = RobotFileParser()
    try:
        page = fetcher.fetch(f"{site}/robots.txt")
    except ReadError:
        return None  # each page of the site will say why
    if page.status == OK:
        rules.parse(page.body.decode("utf-8", "replace").splitlines())
        return rules
    if page.status >= 500:  # noqa: PLR2004  # RFC 9309, 2.3.1.4: assume complete disallow
        rules.disallow_all = True  # type: ignore[attr-defined]
        return rules
    return None
