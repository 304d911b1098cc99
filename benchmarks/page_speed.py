"""How fast the web application draws: first paint, a list of 50 results, scrolling through 100,000 documents.

python benchmarks/page_speed.py      needs playwright and Chromium (TWOFOLD_BROWSER, or on the path)
"""

import json
import re
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, Route

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.api_client import fill, visiting
from support.browser import browsing

ROWS = 100_000
RUNS = 9
PAINT = """() => performance.getEntriesByType("paint").map((one) => one.startTime)"""
WATCH = """
  new MutationObserver(() => {
    if (!window.drawn && document.querySelectorAll(".hit").length >= 50) window.drawn = performance.now();
  }).observe(document, { childList: true, subtree: true });
"""
LISTED = """async () => {
  const answer = performance.getEntriesByType("resource").findLast((one) => one.name.includes("explain")).responseEnd;
  await new Promise((settle) => requestAnimationFrame(() => setTimeout(settle)));
  return [window.drawn - answer, performance.now() - answer];
}"""
SCROLL = """async () => {
  const box = document.querySelector(".rows");
  const frame = () => new Promise((settle) => requestAnimationFrame(settle));
  const work = [];
  for (let step = 0; step < 200; step += 1) {
    await frame();
    const before = performance.now();
    box.scrollTop += step % 20 === 19 ? 200_000 : 330;
    box.dispatchEvent(new Event("scroll"));
    await null;
    await null;
    box.getBoundingClientRect();
    work.push(performance.now() - before);
  }
  return work;
}"""


def main() -> None:
    """Print medians of some runs, in milliseconds."""
    texts = {f"note-{at}.txt": f"Herons and note {at} stand in the water, and wait for fish." for at in range(120)}
    with TemporaryDirectory() as home, browsing() as browser:
        fill(Path(home), texts=texts)
        with visiting(Path(home)) as visit:
            paints = [paint(browser, f"{visit.address}/ask") for _ in range(RUNS)]
            show("first paint", [one[0] for one in paints])
            show("first paint with text", [one[-1] for one in paints])
            lists = [listed(browser, f"{visit.address}/search?q=herons&k=50") for _ in range(RUNS)]
            show("50 results in the page", [one[0] for one in lists])
            show("50 results on screen", [one[1] for one in lists])
            show("a step through 100,000 documents", scrolled(browser, f"{visit.address}/library?index=notes"))


def show(name: str, values: list[float]) -> None:
    """Print a median, and the worst."""
    print(f"{name}: {statistics.median(values):.1f} ms, at most {max(values):.1f} ms")


def paint(browser: Browser, address: str) -> list[float]:
    """Open the page as somebody who was never there."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        page.locator("#question").wait_for()
        found: list[float] = page.evaluate(PAINT)
        return found


def listed(browser: Browser, address: str) -> list[float]:
    """Return how long after the server's answer the results are in the page, and drawn."""
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(address)
        page.locator(".hit").nth(49).wait_for()
        found: list[float] = page.evaluate(LISTED)
        return found


def scrolled(browser: Browser, address: str) -> list[float]:
    """Return how long the page works for each of 200 steps."""
    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/documents?**", _documents)
        page.goto(address)
        page.locator(".row-name").first.wait_for()
        return _steps(page)


def _steps(page: Page) -> list[float]:
    found: list[float] = page.evaluate(SCROLL)
    return found


def _documents(route: Route) -> None:
    offset = int((re.search(r"offset=(\d+)", route.request.url) or ["", "0"])[1])
    some = [
        {"id": f"d{at}", "source": f"folder/file-{at}.txt", "title": "", "media_type": "text/plain", "metadata": {},
         "content_hash": "", "chunks": 1, "characters": 10}
        for at in range(offset, offset + 200)
    ]  # fmt: skip
    route.fulfill(
        body=json.dumps({"documents": some, "offset": offset, "total": ROWS}), content_type="application/json"
    )


if __name__ == "__main__":
    main()
