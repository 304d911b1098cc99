"""A real browser that visits the page of a server on this machine."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SAID = os.environ.get("TWOFOLD_BROWSER", "")
PATIENCE_MS = 60_000
expect.set_options(PATIENCE_MS)

SENTENCE = "The night ferry to Ostend leaves at eleven from quay nine."
LONG = "Of 😀 many other boats.\n\n" * 400 + SENTENCE + "\n\nNothing more of note." * 400
EVIL = "document.title = 'owned'"
HOSTILE = f'<script>{EVIL}</script> Wombat burrows <img src=x onerror="{EVIL}"> are long.'
QUESTION = "When does the night ferry to Ostend leave?"


def browser_path() -> str | None:
    """Find a browser: TWOFOLD_BROWSER, else one of the usual names."""
    return next((found for name in (SAID, *NAMES) if name and (found := shutil.which(name))), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Run a browser that stays on this machine; where there is none, the test is skipped."""
    path = browser_path()
    if path is None:
        pytest.skip("no browser here: `make setup` installs Chromium, or set TWOFOLD_BROWSER")
    flags = [
        "--disable-background-networking",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []  # its sandbox does not run as root
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*flags, *alone])
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
    said: str = page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()")
    return said


class opened:  # noqa: N801  # reads as a verb
    """Open a view; afterwards hold it to having asked nobody but its server, thrown nothing and run nothing foreign."""

    def __init__(self, browser: Browser, address: str, path: str = "/", **looks: object) -> None:
        self.context = browser.new_context(**looks)  # type: ignore[arg-type]
        self.address = address
        self.path = path
        self.wrong: list[str] = []

    def __enter__(self) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self.wrong.append(said.text) if "Content Security" in said.text else None)
        page.on("request", lambda asked: self.wrong.append(asked.url) if not self._ours(asked.url) else None)
        page.on("dialog", self._met)
        page.goto(self.address + self.path)
        return page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        assert kind is not None or not self.wrong, self.wrong

    def _met(self, dialog: Dialog) -> None:
        if dialog.type == "alert":  # what a foreign script would show; questions of the page's own are answered yes
            self.wrong.append(dialog.message)
        dialog.accept()

    def _ours(self, url: str) -> bool:
        return url.startswith((self.address, f"blob:{self.address}"))


def search(page: Page, query: str) -> None:
    page.locator("#query").fill(query)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text(re.compile("passages? in"), timeout=PATIENCE_MS)


def ask(page: Page, question: str) -> Locator:
    """Ask in the view Ask, and give the turn when it is answered and its conversation is kept."""
    before = page.locator(".turn").count()
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(before)
    expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false", timeout=PATIENCE_MS)
    expect(turn.locator(".actions")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".history li.current")).to_have_count(1, timeout=PATIENCE_MS)
    return turn


def no_wider_than_the_window(page: Page) -> bool:
    """Say whether nothing makes the page scroll sideways."""
    fits: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return fits
