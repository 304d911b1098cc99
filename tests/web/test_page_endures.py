"""What happens when the server goes away and comes back, and that nothing hostile runs, asks or breaks a view."""

from threading import Event

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import EVIL, no_wider_than_the_window, opened
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from support.server_process import served

WORD = "Wombatburrowswithoutanyspace" * 40
PAYLOADS = {
    f"<img src=x onerror={EVIL!r}>.md": (
        f"# <svg onload={EVIL!r}>\n\nWombats <script>{EVIL}</script> dig. [x](javascript:{EVIL})"
    ),
    "http://evil.example/wombat.txt": (
        f"Wombats at http://evil.example/?{WORD} and \u202etxt.exe\u202c \u0007 and {{{{7*7}}}} ${{7*7}}."
    ),
    "'\"><b>wombat.csv": (
        f"Wombats | <iframe src=http://evil.example> |\n\n| {WORD} | </table><b>x</b> |\n| --- | --- |\n| 1 | 2 |\n"
    ),
}


def test_a_server_that_is_killed_while_it_answers_is_asked_again_when_it_is_back(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("killed")
    fill(home)
    killed = Event()

    def reply(_: Heard, send: Send) -> None:
        send(piece("The Eiffel tower stands "))
        if killed.wait(20):
            send(piece("in Paris [1]."))
            send(finished())

    with chatting(reply) as model:
        generator = f"generator={model}#m"
        with served(home, 0, generator) as (process, address), opened(browser, address, "/ask") as page:
            page.locator("#question").fill("Where does the Eiffel tower stand?")
            page.keyboard.press("Enter")
            expect(page.locator(".turn .prose")).to_contain_text("The Eiffel tower stands")
            process.kill()
            process.wait()
            expect(page.locator(".banner")).to_contain_text("cannot be reached")
            killed.set()
            with served(home, int(address.rpartition(":")[2]), generator):
                expect(page.locator(".banner")).to_have_count(0)
                expect(page.locator(".turn .prose")).to_contain_text("in Paris")
                expect(page.locator(".turn")).to_have_count(1)
                expect(page.locator(".history li.current")).to_contain_text("Where does the Eiffel tower stand?")


def test_nothing_hostile_runs_asks_or_breaks_any_view(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("hostile")
    fill(home, texts=PAYLOADS)
    with visiting(home) as visit:
        found = visit.client.get("/v1/indexes/notes/documents").json()["documents"]
        evil = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
        paths = [
            "/search?q=wombats&group=1",
            f"/search?q=wombats+{evil}&explain=1&missing={evil}",
            f"/ask?q={evil}",
            f"/library?q={evil}",
            "/library",
            "/compare?q=wombats",
            "/judge?q=wombats",
            f"/document?doc={evil}",
            *(f"/document?doc={one['id']}&tab={tab}&at=0-9999" for one in found for tab in ("text", "passages")),
            f"/{evil}",
        ]
        with opened(browser, visit.address, "/settings", viewport={"width": 360, "height": 640}) as page:
            for path in paths:
                if not path.startswith("/%"):
                    page.goto(visit.address + path)
                    expect(page.locator("main > *").first).to_be_visible()
                    page.wait_for_load_state("networkidle")
                assert page.locator("main img:not([alt]), iframe, main script, aside script, b").count() == 0, path
                assert no_wider_than_the_window(page), path
                assert page.evaluate("document.title") != "owned"


def test_without_a_network_the_page_says_so_and_goes_on(page: Page, visit: Visit) -> None:
    page.context.set_offline(True)
    try:
        page.locator("#query").fill("tower")
        page.keyboard.press("Enter")
        expect(page.locator(".banner")).to_contain_text("cannot be reached")
    finally:
        page.context.set_offline(False)
    expect(page.locator(".banner")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_be_visible()
    assert visit.client.get("/healthz").status_code == 200


def test_a_slow_answer_of_the_server_never_replaces_a_later_one(page: Page) -> None:
    held: list[Route] = []

    def late(route: Route) -> None:
        if "tower" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/explain", late)
    page.locator("#query").fill("tower")
    page.keyboard.press("Enter")
    expect(page.locator("#results")).to_have_attribute("aria-busy", "true")
    page.locator("#query").fill("cat mat")
    page.keyboard.press("Enter")
    expect(page.locator(".hit .title").first).to_have_text("cat.txt")
    for route in held:
        route.fulfill(status=200, body="{}", content_type="application/json")
    expect(page.locator(".hit .title").first).to_have_text("cat.txt")
    assert held
