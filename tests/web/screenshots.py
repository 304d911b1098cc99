"""Pictures of every view in both themes and two sizes: `make screenshots`. They are looked at and never committed."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, visiting
from support.browser import ask, browsing, opened
from support.documents import Words, pdf_of

REPOSITORY = Path(__file__).resolve().parents[2]
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
QUESTION = "How many conversations does a token keep with each index?"
JUDGED = {
    "what happens to a file that cannot be read": "documents.md",
    "how is a token made": "server.md",
    "what is a profile": "profiles.md",
    "how are scores fused": "search.md",
    "which models are there": "models.md",
    "how do I filter by date": "filters.md",
}
VIEWS = {
    "ask-empty": ("/ask", "#question"),
    "ask": ("/ask", "#question"),
    "search": ("/search?q=how+are+scores+fused", ".hit"),
    "explain": ("/search?q=how+are+scores+fused&explain=1&missing=storage.md", ".verdict"),
    "library": ("/library", ".row-name"),
    "document": ("/document?doc={search}", ".doc-body"),
    "passages": ("/document?doc={search}&tab=passages", ".chunk"),
    "pages": ("/document?doc={alps}&tab=pages", "page-image img"),
    "compare": ("/compare?q=how+are+scores+fused&b.mode=vector", ".move"),
    "judge": ("/judge?q=how+is+a+token+made", ".grades"),
    "experiments": ("/experiments?b.mode=vector", ".configuration"),
    "settings": ("/settings", "#tokens"),
}


def main(folder: Path) -> None:
    """Draw all views of a server that holds twofold's own documentation, into a folder that is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with TemporaryDirectory() as home, visiting(Path(home) / "home") as visit, browsing() as browser:
        first_run(browser, visit, folder)
        fill(visit)
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                looks = {
                    "color_scheme": theme,
                    "viewport": {"width": width, "height": height},
                    "reduced_motion": "reduce",
                }
                for name, (path, ready) in VIEWS.items():
                    with opened(browser, visit.address, address(visit, path), **looks) as page:
                        expect(page.locator(ready).first).to_be_visible()
                        act(page, name)
                        page.screenshot(path=folder / f"{name}-{size}-{theme}.png")


def address(visit: Visit, path: str) -> str:
    """Put the ids of documents into an address."""
    for name in ("search", "alps"):
        if f"{{{name}}}" in path:
            found = visit.client.get(f"/v1/indexes/docs/documents?q={name}.").json()["documents"]
            path = path.replace(f"{{{name}}}", found[0]["id"])
    return path


def first_run(browser: Browser, visit: Visit, folder: Path) -> None:
    """Draw what a person sees who has no index yet."""
    for size, (width, height) in SIZES.items():
        with opened(browser, visit.address, "/", viewport={"width": width, "height": height}) as page:
            expect(page.locator(".first-run")).to_be_visible()
            page.screenshot(path=folder / f"first-{size}-light.png")


def fill(visit: Visit) -> None:
    """Add the documentation and a PDF, and judge some questions."""
    client = visit.client
    client.post("/v1/indexes", json={"name": "docs"})
    pages = [[Words(72, 700, "Marmots of the Alps", 20, True), Words(72, 660, "Marmots whistle at eagles.")]]
    files = [("file", (f"docs/{path.name}", path.read_bytes())) for path in sorted((REPOSITORY / "docs").glob("*.md"))]
    job = client.post("/v1/indexes/docs/documents", files=[*files, ("file", ("alps.pdf", pdf_of(pages)))]).json()
    visit.finished(job["id"])
    sources = {
        one["source"].rpartition("/")[2]: one["source"]
        for one in client.get("/v1/indexes/docs/documents").json()["documents"]
    }
    for query, name in JUDGED.items():
        client.put("/v1/indexes/docs/judgements", json={"query": query, "source": sources[name], "grade": 2})


def act(page: Page, name: str) -> None:
    """Do what makes a view worth a picture."""
    if name == "ask":
        turn = ask(page, QUESTION)
        turn.locator(".source-list a, .nearest a").first.click()
        expect(page.locator("#span")).to_be_visible()
    if name == "search":
        page.locator(".why").first.click()
        if page.evaluate("innerWidth") > 1000:
            page.locator(".title").nth(1).click()
            expect(page.locator("#source-text mark").first).to_be_visible()
    if name == "experiments":
        page.get_by_role("button", name="Measure").click()
        expect(page.locator(".charts")).to_be_visible()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
