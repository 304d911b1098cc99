"""Tokens that are not given, wrong or revoked, a server that is away at first, and files that nothing takes."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, FilePayload, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import opened
from twofold.server.limits import DEFAULT_LIMITS

OWL: FilePayload = {"name": "owl.txt", "mimeType": "text/plain", "buffer": b"Owls hunt at night."}


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Visit]:
    """Serve an index that wants a token."""
    fill(tmp_path)
    with visiting(tmp_path) as one:
        one.token("read")
        yield one


def give(page: Page, token: str) -> None:
    page.locator("#token-value").fill(token)
    page.keyboard.press("Enter")


def test_who_gave_no_token_can_still_give_one(browser: Browser, locked: Visit) -> None:
    with opened(browser, locked.address, "/search?index=notes&q=tower") as page:
        page.get_by_role("button", name="Not now").click()
        expect(page.locator("main")).to_contain_text("This server wants a token")
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("button", name="Not now").click()
        page.get_by_role("link", name="Library").click()  # another view asks again as well
        give(page, locked.token("read"))
        expect(page.locator(".row-name")).to_have_count(3)
        page.go_back()
        expect(page.locator(".hit").first).to_be_visible()


def test_a_token_with_letters_that_none_has_is_not_taken_for_a_server_that_is_away(
    browser: Browser, locked: Visit
) -> None:
    with opened(browser, locked.address, "/search?index=notes&q=tower") as page:
        give(page, "tf_abc\N{EN DASH}def")
        expect(page.locator("#token-value:invalid")).to_be_visible()
        expect(page.locator(".banner")).to_have_count(0)
        give(page, f" {locked.token('read')} ")  # blanks are copied along easily
        expect(page.locator(".hit").first).to_be_visible()


def test_files_wait_for_a_new_token_when_the_old_one_is_revoked(browser: Browser, locked: Visit) -> None:
    token = locked.token("admin")
    with opened(browser, locked.address, "/library?index=notes") as page:
        give(page, token)
        expect(page.locator(".row-name")).to_have_count(3)
        locked.tokens.revoke(token.split("_")[1])
        page.locator("#files").set_input_files([OWL])
        expect(page.locator("#token-says")).to_contain_text("revoked")
        give(page, locked.token("admin"))
        expect(page.locator(".item.done")).to_contain_text("owl.txt")


def test_a_server_that_is_away_when_the_page_opens_is_asked_again(browser: Browser, locked: Visit) -> None:
    asked: list[Route] = []

    def late(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            route.abort("connectionrefused")
        else:
            route.fallback()

    token = locked.token("read")
    with opened(browser, locked.address, "/docs") as page:
        page.evaluate("(token) => sessionStorage.setItem('twofold.token', token)", token)
        page.route("**/v1/indexes", late)
        page.goto(f"{locked.address}/search?index=notes&q=tower")
        expect(page.locator(".hit").first).to_be_visible()
        expect(page.locator(".banner")).to_have_count(0)
        assert len(asked) > 1


def test_a_file_that_is_dropped_next_to_the_zone_does_not_replace_the_page(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/library?index=void")
    expect(page.locator(".drop")).to_be_visible()
    opens = page.locator("h1").evaluate(
        """(title) => ["dragover", "drop"].map((name) => {
          const carried = new DataTransfer();
          carried.items.add(new File(["x"], "x.pdf"));
          return title.dispatchEvent(new DragEvent(name, { dataTransfer: carried, bubbles: true, cancelable: true }));
        })"""
    )
    assert opens == [False, False]
    carries = page.locator("#documents-search").evaluate(
        """(box) => {
          const carried = new DataTransfer();
          carried.setData("text/plain", "words");
          return box.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }"""
    )
    assert carries  # words are dropped into a box as everywhere


def test_a_page_with_files_that_were_not_sent_asks_before_it_goes(browser: Browser, tmp_path: Path) -> None:
    fill(tmp_path)
    met: list[str] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.fallback()

    def stay(dialog: Dialog) -> None:
        met.append(dialog.type)

    with visiting(tmp_path) as visit, opened(browser, visit.address, "/library?index=notes") as page:
        page.on("dialog", stay)
        page.locator("h1").click()  # a browser asks only where a person did something
        page.route("**/documents", hold)
        page.locator("#files").set_input_files([OWL])
        expect(page.locator(".item.sending")).to_be_visible()
        page.goto(f"{visit.address}/docs")
        assert met == ["beforeunload"]
        page.unroute("**/documents")
        page.goto(f"{visit.address}/library?index=notes")
        page.locator("h1").click()
        page.locator("#files").set_input_files([OWL])
        expect(page.locator(".item.done")).to_be_visible()
        page.goto(f"{visit.address}/docs")
        assert met == ["beforeunload"]


def test_why_a_file_failed_is_said_in_sentences_for_people_at_a_browser(browser: Browser, tmp_path: Path) -> None:
    fill(tmp_path)
    empty: FilePayload = {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""}
    large: FilePayload = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"Owls. " * 2_000}
    limits = replace(DEFAULT_LIMITS, upload_bytes=9_000)
    with visiting(tmp_path, limits) as visit, opened(browser, visit.address, "/library?index=notes") as page:
        page.locator("#files").set_input_files([empty])
        expect(page.locator(".queue .item-why")).to_have_text(re.compile(r"^The file is empty\. [A-Z].*\.$"))
        page.get_by_role("button", name="Clear the list").click()
        page.locator("#files").set_input_files([large])
        expect(page.locator(".queue .item-why")).to_contain_text("larger than the server takes from a browser")


def test_the_page_of_routes_says_why_it_shows_none(browser: Browser, locked: Visit) -> None:
    with opened(browser, locked.address, "/docs") as page:
        expect(page.locator("#routes article").first).to_be_visible()
        page.route("**/openapi.json", lambda route: route.fulfill(status=503, json={"error": "busy"}))
        page.reload()
        expect(page.locator("#routes").get_by_role("alert")).to_contain_text("the server answered 503")
        assert page.locator("#routes article").count() == 0
