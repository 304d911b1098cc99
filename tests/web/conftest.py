"""One browser and one server with documents for all tests of a module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from support.api_client import TEXTS, Visit, fill, visiting
from support.browser import HOSTILE, LONG, browsing, opened
from support.documents import Words, pdf_of

TABLE = "# Fares\n\n| port | fare |\n| --- | --- |\n| Ostend | 40 euros |\n| Dover | 55 euros |\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("web")
    fill(home, texts={**TEXTS, "ferries.txt": LONG, "docs/fares.md": TABLE, "<b>wombat</b>.md": HOSTILE})
    fill(home, "boats", texts={"punts.txt": "A punt is a flat boat. It is pushed with a pole."})
    with visiting(home) as one:
        pages = [[Words(72, 700, "A first page about nothing.")], [Words(72, 700, "Marmots whistle at eagles.")]]
        job = one.client.post("/v1/indexes/notes/documents", files=[("file", ("alps.pdf", pdf_of(pages)))]).json()
        assert one.finished(job["id"])["state"] == "done"
        assert one.client.post("/v1/indexes", json={"name": "void"}).status_code == 201
        judged = {"query": "flat boat", "source": "punts.txt", "grade": 2}
        assert one.client.put("/v1/indexes/boats/judgements", json=judged).status_code == 200
        yield one


@pytest.fixture(scope="module")
def window(browser: Browser, visit: Visit) -> Iterator[Page]:
    with opened(browser, visit.address, "/search?index=notes") as one:
        yield one


@pytest.fixture
def page(window: Page, visit: Visit) -> Page:
    """Give the window of the module, at the view Search as if it were new."""
    window.unroute_all()
    window.goto(f"{visit.address}/search?index=notes")
    expect(window.locator("#query")).to_be_visible()
    return window
