"""The page's microphone, in a real browser that hears a recording instead of a person."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support.api_client import Visit, fill, visiting
from support.browser import browser_path, opened
from support.speech import spoken

WORDS = "How tall is the tower?"


@contextmanager
def browser_hearing(recording: Path) -> Iterator[Browser]:
    """Run a browser whose microphone plays a file over and over, and is given to every page."""
    path = browser_path()
    if path is None:
        pytest.skip("no browser here: `make setup` installs Chromium, or set TWOFOLD_BROWSER")
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
    heard = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
    with sync_playwright() as driver:
        source = f"--use-file-for-fake-audio-capture={recording}"
        browser = driver.chromium.launch(executable_path=path, args=[*flags, *heard, source])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def asking_aloud(folder: Path) -> Iterator[tuple[Visit, Page]]:
    """Open the view Ask of a server with documents, in a browser that hears the words."""
    recording = folder / "said.wav"
    recording.write_bytes(spoken(WORDS))
    fill(folder / "home")
    with (
        visiting(folder / "home") as visit,
        browser_hearing(recording) as browser,
        opened(browser, visit.address, "/ask?index=notes") as page,
    ):
        yield visit, page


@pytest.mark.model
def test_what_is_said_stands_in_the_box_before_it_is_asked(tmp_path: Path) -> None:
    with asking_aloud(tmp_path) as (_, page):
        page.get_by_role("button", name="Speak").click()
        done = page.get_by_role("button", name="Done speaking")
        expect(done).to_have_attribute("aria-pressed", "true")
        expect(done).to_have_text(re.compile(r"\b([6-9]|[1-4]\d) s$"))  # the words are said twice in six seconds
        done.click()
        expect(page.locator("#question")).to_have_value(re.compile("tower", re.IGNORECASE))
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator(".turn")).to_have_count(0)


def test_without_the_model_there_is_no_button(tmp_path: Path) -> None:
    with asking_aloud(tmp_path) as (visit, page):
        expect(page.locator(".composer-ways select").first).to_be_visible()
        expect(page.get_by_role("button", name="Speak")).to_have_count(0)
        assert visit.client.get("/v1/server").json()["speech"] is False
