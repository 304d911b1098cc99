"""Pictures of every view in both themes and five sizes: `make screenshots`. They are looked at and never committed."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, FilePayload, Page, expect

from support.api_client import Visit, visiting
from support.browser import ask, browsing, opened
from support.documents import Words, pdf_of

REPOSITORY = Path(__file__).resolve().parents[2]
SIZES = {"wide": (1280, 800), "phone": (360, 740)}
"""Both themes."""
MORE_SIZES = {"tablet": (768, 1024), "large": (1920, 1080), "zoomed": (640, 400)}
"""The light theme alone; `zoomed` is what 1280 by 800 has at 200 %."""
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
    "ask-refused": ("/ask", "#question"),
    "search-empty": ("/search", ".lesson"),
    "search": ("/search?q=how+are+scores+fused", ".hit"),
    "search-options": ("/search?q=how+are+scores+fused&narrow=1", ".narrow"),
    "search-nothing": ("/search?q=%2Bzzyzx", ".lesson"),
    "explain": ("/search?q=how+are+scores+fused&explain=1&missing=storage.md", ".verdict"),
    "library": ("/library", ".row-name"),
    "library-uploads": ("/library", ".row-name"),
    "library-kept": ("/library", ".row-name"),
    "document": ("/document?doc={search}", ".doc-body"),
    "document-fields": ("/document?doc={search}", ".doc-body"),
    "passages": ("/document?doc={search}&tab=passages", ".chunk"),
    "pages": ("/document?doc={alps}&tab=pages", "page-image img"),
    "compare": ("/compare?q=how+are+scores+fused&b.mode=vector", ".move"),
    "compare-set": ("/compare?set=judged&b.mode=vector", ".wins"),
    "judge-empty": ("/judge", ".lesson"),
    "judge": ("/judge?q=how+is+a+token+made", ".grades"),
    "experiments": ("/experiments?b.mode=vector", ".configuration"),
    "settings": ("/settings", "#tokens"),
    "keys": ("/ask", "#question"),
    "away": ("/library", ".row-name"),
    "docs": ("/docs", "article"),
}


def main(folder: Path, *chosen: str) -> None:
    """Draw views, all of them where none is named, of a server that holds twofold's own documentation."""
    if not chosen:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home, visiting(Path(home) / "home") as visit, browsing() as browser:
        first_run(browser, visit, folder)
        fill(visit)
        looks = [("light", size) for size in {**SIZES, **MORE_SIZES}] + [("dark", size) for size in SIZES]
        for theme, size in looks:
            width, height = {**SIZES, **MORE_SIZES}[size]
            seen = {"color_scheme": theme, "viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}
            for name in chosen or VIEWS:
                path, ready = VIEWS[name]
                with opened(browser, visit.address, address(visit, path), **seen) as page:
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
    match name:
        case "ask":
            turn = ask(page, QUESTION)
            turn.locator(".source-list a").first.click()
            expect(page.locator("#span")).to_be_visible()
        case "ask-refused":
            ask(page, "Who composed the opera about the barber of Seville?")
        case "document-fields":
            page.locator(".facts-of summary").click()
            page.get_by_role("button", name="Change the fields").click()
        case "experiments":
            page.get_by_role("button", name="Measure").click()
            expect(page.locator(".charts").first).to_be_visible()
        case "settings":
            page.get_by_role("button", name="Check everything").click()
            expect(page.locator('section[aria-labelledby="checkup"] .item').first).to_be_visible()
        case "keys":
            page.locator("#help").click()
        case _ if name.startswith("search"):
            act_in_search(page, name)
        case _:
            act_in_library(page, name)


def act_in_search(page: Page, name: str) -> None:
    """Open a reason and a passage, or the options."""
    if name == "search":
        page.locator(".why").first.click()
        if page.evaluate("innerWidth") > 1000:
            page.locator(".title").nth(1).click()
            expect(page.locator("#source-text mark").first).to_be_visible()
    elif name == "search-options":
        page.locator("#options > summary").click()
        page.locator(".expert > summary").click()


def act_in_library(page: Page, name: str) -> None:
    """Upload files with long names of which one fails, open what is kept, or take the server away."""
    if name == "library-uploads":
        long = "minutes-of-the-meeting-about-the-extension-of-the-harbor-2026-final-version.txt"
        files: list[FilePayload] = [
            {"name": long, "mimeType": "text/plain", "buffer": b"Minutes."},
            {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 nothing"},
        ]
        page.locator("#files").set_input_files(files)
        expect(page.locator(".queue [role=status]")).to_contain_text("1 of 2 in the index, 1 failed")
    elif name == "library-kept":
        page.locator(".kept > summary").click()
        expect(page.locator("#rules")).to_be_visible()
    elif name == "away":
        page.context.set_offline(True)
        expect(page.locator(".banner")).to_be_visible()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
