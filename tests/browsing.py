"""A real browser that visits the page of a server on this machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SAID = os.environ.get("TWOFOLD_BROWSER", "")
PATIENCE_MS = 20_000


def browser_path() -> str | None:
    """Find a browser: TWOFOLD_BROWSER, else one of the usual names."""
    return next((found for name in (SAID, *NAMES) if name and (found := shutil.which(name))), None)


@contextmanager
def browsing(path: str) -> Iterator[Browser]:
    """Run a browser that stays on this machine."""
    flags = [
        "--disable-background-networking",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []  # its sandbox does not run as root
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(Path(path)), args=[*flags, *alone])
        try:
            yield browser
        finally:
            browser.close()


def on_screen(found: Locator) -> bool:
    """Say whether a person sees the middle of an element: it is within the window, and nothing lies over it."""
    seen: bool = found.evaluate(
        """(element) => {
          const box = element.getClientRects()[0];
          const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
          const inside = x > 0 && y > 0 && x < innerWidth && y < innerHeight;
          return inside && box.width > 0 && element.contains(document.elementFromPoint(x, y));
        }"""
    )
    return seen


def focused(page: Page) -> str:
    """Give the id, or the text, of what has the focus."""
    said: str = page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return said
