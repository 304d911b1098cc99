"""What the server says, where the page speaks another language or the server wants it to wait."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import opened
from support.http_server import Answered, serving
from twofold.server.limits import ServerLimits
from twofold.server.run import Address

ENGLISH = re.compile(r"\b(the|of|terms|passages|was|were|added|rank|read|has|have|it)\b")
SEARCHES = (
    "/search?index=notes&q=tower+in+Paris&explain=1&missing=cat.txt",
    "/search?index=notes&q=%2Btower&group=1&sort=newest&fresh=30d&explain=1&missing=cat.txt",
    "/search?index=notes&q=wombats+of+Zanzibar&explain=1&missing=git.txt&k=1",
    "/search?index=notes&q=E-1234&mode=bm25&explain=1&missing=cat.txt",
    "/search?index=notes&q=tower&filter=type+%3D%3D+.pdf&explain=1&missing=cat.txt",
)


def test_what_stages_note_and_why_a_document_is_missing_is_said_in_german(browser: Browser, visit: Visit) -> None:
    with opened(browser, visit.address, "/", locale="de-DE") as page:
        for path in SEARCHES:
            page.goto(visit.address + path)
            expect(page.locator(".verdict")).to_be_visible()
            said = [
                *page.locator(".stage-notes").all_text_contents(),
                page.locator(".verdict > p").first.text_content(),
            ]
            assert [one for one in said if one and ENGLISH.search(one)] == [], path
        page.goto(f"{visit.address}/search?index=notes&q=tower+in+Paris&explain=1")
        expect(page.locator(".stage-notes").first).to_contain_text("Wörter: ")


def test_a_sentence_that_is_not_known_stays_as_the_server_says_it(browser: Browser, visit: Visit) -> None:
    with opened(browser, visit.address, "/search?index=notes&q=tower", locale="de-DE") as page:
        said = page.evaluate(
            """async () => { const { said } = await import("/page/strings.js"); return [
              said("Never said."), said("the file is empty"), said("the file is empty."), said(""),
              said("Each retriever returns its best 9: for bm25 it has no vector yet, vector has it at rank 7."),
            ]; }"""
        )
    ranks = "nach Wörtern: es hat noch keinen Vektor, nach Bedeutung steht es auf Platz 7"
    assert said[:4] == ["Never said.", "die Datei ist leer", "die Datei ist leer.", ""]
    assert said[4] == f"Jedes Verfahren gibt seine besten 9: {ranks}."


def test_a_page_that_asks_too_often_waits_and_goes_on(browser: Browser, tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, ServerLimits(requests_per_minute=30)) as visit:
        token = visit.token("read:notes")
        with opened(browser, visit.address, "/search?index=notes&q=tower") as page:
            page.locator("#token-value").fill(token)
            page.keyboard.press("Enter")
            expect(page.locator(".hit").first).to_be_visible()
            for _ in range(30):
                visit.client.get("/v1/indexes", headers={"Authorization": f"Bearer {token}"})
            page.locator("#query").fill("cat")
            with page.expect_response(lambda one: one.url.endswith("/explain") and one.status == 429):
                page.keyboard.press("Enter")
            expect(page.locator(".hit .title").first).to_have_text("cat.txt")
            expect(page.locator(".error")).to_have_count(0)


def test_a_page_of_a_listed_origin_reads_when_it_may_ask_again(page: Page, tmp_path: Path) -> None:
    """It is asked by a real browser, which hides from a page what the server does not open to it."""
    with serving(lambda _: Answered(b"<!doctype html>", headers={"Content-Type": "text/html"})) as wiki:
        fill(tmp_path)
        address = Address(port=0, origins=(wiki,))
        with visiting(tmp_path, ServerLimits(requests_per_minute=1), address) as visit:
            token = visit.token("read:notes")
            other = page.context.new_page()
            other.goto(wiki)
            said = other.evaluate(
                """async ([where, token]) => {
                  const ask = () => fetch(`${where}/v1/indexes`, { headers: { Authorization: `Bearer ${token}` } });
                  const [first, second] = [await ask(), await ask()];
                  const waits = Number(second.headers.get("Retry-After"));
                  return [first.status, await first.json(), second.status, waits > 0];
                }""",
                [visit.address, token],
            )
            other.close()
    assert said == [200, {"indexes": ["notes"]}, 429, True]
