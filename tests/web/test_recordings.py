"""A recording is heard from where a passage of it begins: by whom it may be read, and by nobody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import ask, no_wider_than_the_window, opened
from support.speech import spoken
from twofold.models.catalog.entries import WHISPER
from twofold.models.catalog.files import is_present

pytestmark = pytest.mark.model
TOUR = "The lighthouse was built in eighteen ninety two. " * 9 + "The restaurant is closed on Mondays."


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory, real_models: Path) -> Iterator[Visit]:
    """Serve a recording of some 35 seconds that came in over HTTP."""
    if not is_present(WHISPER, real_models):
        pytest.skip(f"no {WHISPER.name} in {real_models}")
    home = tmp_path_factory.mktemp("museum")
    fill(home)
    with visiting(home, said={"models": str(real_models), "answer.min_answerability": 0.0}) as one:
        send(one, "tour.wav", TOUR)
        yield one


def send(museum: Visit, name: str, words: str) -> str:
    """Add a recording, and return its id."""
    by = museum.as_bearer("write:notes")
    where, files = "/v1/indexes/notes/documents", [("file", (name, spoken(words)))]
    job = museum.client.post(where, headers=by, files=files).json()
    (file,) = museum.finished(job["id"], by)["files"]
    if file["state"] != "done":
        pytest.skip(f"no recording is read here: {file['problem']}")
    return str(file["document"])


def place_of(page: Page) -> float:
    """Wait until something is heard, and return at which second it stands."""
    expect(page.locator("audio")).to_have_js_property("seeking", value=False)
    expect(page.locator("audio")).to_have_js_property("readyState", 4)
    seconds: float = page.locator("audio").evaluate("(audio) => audio.currentTime")
    return seconds


def test_a_citation_is_heard_from_its_time(browser: Browser, museum: Visit) -> None:
    token = museum.token("read:notes")
    with opened(browser, museum.address, "/ask?index=notes&by=extracts") as page:
        page.locator("#token-value").fill(token)
        page.keyboard.press("Enter")
        ask(page, "When is the restaurant closed?").locator('.prose a.chip[aria-label*="tour.wav"]').first.click()
        button = page.locator("#source recording-player button")
        expect(button).to_contain_text("Play from 00:00:")
        begins = float((button.text_content() or "")[-2:])
        assert page.locator("audio").count() == 0  # nothing is fetched before somebody wants to hear it
        button.press("Enter")
        expect(page.locator("#source audio")).to_be_focused()
        assert begins > 0
        assert begins <= place_of(page) <= page.locator("audio").evaluate("(audio) => audio.duration")
        assert page.locator("audio").evaluate("(audio) => audio.played.length") == 1
        page.set_viewport_size({"width": 360, "height": 640})
        assert no_wider_than_the_window(page)
        page.locator("#source h2 a").click()  # the whole document
        expect(page.locator(".doc-head recording-player button")).to_contain_text(f"00:00:{int(begins):02}")


def test_an_original_is_for_those_who_may_read_it_and_has_no_pages(museum: Visit) -> None:
    words = "Ring the bell at the gate."
    where = f"/v1/indexes/notes/documents/{send(museum, 'bell.wav', words)}"
    kept = list((museum.home / "server" / "originals").rglob("*.pdf"))
    may, other = museum.as_bearer("write:notes"), museum.as_bearer("read:else")
    heard = museum.client.get(f"{where}/original", headers=may)

    assert heard.status_code == 200
    assert heard.headers["content-type"] == "audio/wav"
    assert heard.headers["content-disposition"] == "attachment"
    assert heard.content == spoken(words)
    assert "media-src blob:;" in heard.headers["content-security-policy"]
    assert museum.client.get(f"{where}/original", headers=other).status_code in {403, 404}
    assert museum.client.get(f"{where}/original").status_code == 401
    assert museum.client.get(f"{where}/pages/1", headers=may).status_code == 404
    assert museum.client.delete(where, headers=may).status_code == 204
    assert len(list((museum.home / "server" / "originals").rglob("*.pdf"))) == len(kept) - 1
