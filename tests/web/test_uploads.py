"""Uploads that meet what happens: files that fail, a server that is killed, a slow network, and none."""

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FilePayload, Page, Request, Route, expect

from support.api_client import Visit, fill
from support.browser import opened
from support.documents import Words, pdf_of
from support.server_process import served

SMALL = "limits=file_bytes:3000"


def text_file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def indexed(page: Page) -> list[str]:
    """Return the names of all documents of the index, as the server counts them."""
    said: list[str] = page.evaluate(
        """async () => {
          const { documents } = await (await fetch("/v1/indexes/notes/documents?limit=500")).json();
          return documents.map((one) => one.source).sort();
        }"""
    )
    return said


def test_of_200_files_ten_fail_each_says_why_and_what_is_mended_comes_in_by_a_retry(
    browser: Browser, tmp_path: Path
) -> None:
    fill(tmp_path, texts={"old.txt": "An old note."})
    good = [text_file(f"note-{at:03}.txt", f"Note {at} about herons.") for at in range(190)]
    large = [text_file(f"large-{at}.txt", "Herons wait for fish. " * 200) for at in range(6)]
    broken = [text_file(f"broken-{at}.pdf", "%PDF-1.7 nothing") for at in range(4)]
    with ExitStack() as first:
        process, address = first.enter_context(served(tmp_path, 0, SMALL))
        page = first.enter_context(opened(browser, address, "/library?index=notes"))
        page.locator("#files").set_input_files([*good[:95], *large, *good[95:], *broken])
        expect(page.locator(".queue [role=status]")).to_contain_text("190 of 200 in the index, 10 failed")
        failed = page.locator(".queue .item.failed")
        expect(failed).to_have_count(10)
        reasons = dict(zip(failed.locator(".item-name").all_text_contents(), why(page), strict=True))
        assert all("larger than the 3,000 bytes" in reasons[one["name"]] for one in large)
        assert all("PDF" in reasons[one["name"]] for one in broken)
        assert len(indexed(page)) == 191

        process.kill()
        process.wait()
        with served(tmp_path, int(address.rpartition(":")[2])):  # somebody gave it a higher limit
            page.get_by_role("button", name="Try again").click()
            expect(page.locator(".queue [role=status]")).to_contain_text("196 of 200 in the index, 4 failed")
            expect(page.locator(".banner")).to_have_count(0)
            assert len(indexed(page)) == 197
            assert set(page.locator(".queue .item.failed .item-name").all_text_contents()) == {
                one["name"] for one in broken
            }
            expect(page.locator("#documents-title")).to_have_text("197 documents")


def why(page: Page) -> list[str]:
    return page.locator(".queue .item.failed .item-why").all_text_contents()


class Killer:
    """Kills the server at the first three uploads: before it hears of it, while it reads, before it can say so."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.stack = ExitStack()
        self.process, self.address = self.stack.enter_context(served(home))
        self.left: list[Callable[[Route], None]] = [self._unheard, self._reading, self._unsaid]

    def start_again(self) -> None:
        self.process, _ = self.stack.enter_context(served(self.home, int(self.address.rpartition(":")[2])))

    def posted(self, route: Route) -> None:
        if route.request.method == "POST" and self.left:
            self.left.pop(0)(route)
        else:
            route.fallback()

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _unheard(self, route: Route) -> None:
        self._kill()
        route.continue_()

    def _reading(self, route: Route) -> None:
        answer = route.fetch()
        self._kill()
        route.fulfill(response=answer)

    def _unsaid(self, route: Route) -> None:
        route.fetch()
        self._kill()
        route.continue_()


def breaks(request: Request) -> bool:
    """Say whether a request of the upload met no server; the page itself ends a stream that it read to its end."""
    return request.url.endswith(("/documents", "/events")) and request.failure != "net::ERR_ABORTED"


def test_an_upload_goes_on_after_each_kill_of_the_server_nothing_twice_and_nothing_lost(
    browser: Browser, tmp_path: Path
) -> None:
    fill(tmp_path, texts={"old.txt": "An old note."})
    names = [f"note-{at:02}.txt" for at in range(45)]
    files = [text_file(name, f"{name} is about herons. " * 20) for name in names]
    killer = Killer(tmp_path)
    with killer.stack, opened(browser, killer.address, "/library?index=notes") as page:
        expect(page.locator("#documents-title")).to_have_text("1 document")
        page.route("**/v1/indexes/notes/documents", killer.posted)
        with page.expect_event("requestfailed", breaks):
            page.locator("#files").set_input_files([*files, text_file("broken.pdf", "%PDF-1.7 nothing")])
        for left in (2, 1, 0):
            assert len(killer.left) == left
            expect(page.locator(".banner")).to_contain_text("cannot be reached")
            expect(page.locator(".queue [role=status]")).to_contain_text("waits for the server")
            if left:
                with page.expect_event("requestfailed", breaks):
                    killer.start_again()
        killer.start_again()
        expect(page.locator(".queue [role=status]")).to_contain_text("45 of 46 in the index, 1 failed")
        expect(page.locator(".banner")).to_have_count(0)
        expect(page.locator(".queue .item.failed .item-name")).to_have_text(["broken.pdf"])
        assert indexed(page) == sorted([*names, "old.txt"])
        name = page.locator(".item.done a").first.text_content() or ""
        page.locator(".item.done a").first.click()
        expect(page.locator(".doc-body")).to_contain_text(f"{name} is about herons.")


def test_what_is_in_the_index_is_listed_while_the_rest_is_on_its_way(page: Page, visit: Visit) -> None:
    held: list[Route] = []
    visit.client.post("/v1/indexes", json={"name": "early"})
    page.goto(f"{visit.address}/library?index=early")
    expect(page.locator("#documents-title")).to_have_text("0 documents")

    def second_waits(route: Route) -> None:
        if route.request.method == "POST" and visit.client.get("/v1/indexes/early").json()["documents"]:
            held.append(route)
        else:
            route.continue_()

    page.route("**/indexes/early/documents", second_waits)
    page.locator("#files").set_input_files([text_file(f"{at}.txt", f"Heron {at} waits for fish.") for at in range(5)])
    expect(page.locator(".row-name")).to_have_text(["0.txt", "1.txt"])
    expect(page.locator("#held")).to_contain_text("2 documents")
    expect(page.locator(".item.sending")).to_have_count(3)
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator(".arriving")).to_contain_text("2 of 5 in the index")  # an answer may yet be on its way
    held.pop().continue_()
    expect(page.locator(".arriving")).to_have_count(0)
    page.go_back()
    expect(page.locator(".row-name")).to_have_text([f"{at}.txt" for at in range(5)])


def test_a_job_that_is_followed_further_says_of_each_file_what_became_of_it(page: Page, visit: Visit) -> None:
    """The stream breaks after the first file failed; what comes then is in the order in which all were sent."""
    job: dict[str, Any] = {"id": "j1", "index": "notes", "kind": "documents", "state": "running", "finished": "",
        "created": "2026-01-01", "done": 1, "total": 2, "counts": {}, "pending": 0, "problem": None}  # fmt: skip
    broken = {"name": "a.pdf", "state": "failed", "document": "", "chunks": 0, "problem": {"detail": "No.", "hint": ""}}
    waiting = {"name": "b.txt", "state": "waiting", "document": "", "chunks": 0, "problem": None}
    states = [
        {**job, "files": [broken, waiting]},
        {**job, "state": "cancelled", "finished": "now", "files": [broken, {**waiting, "state": "cancelled"}]},
    ]
    told = iter(states)

    def events(route: Route) -> None:
        route.fulfill(body=f"data: {json.dumps(next(told))}\n\n", content_type="text/event-stream")

    page.goto(f"{visit.address}/library?index=void")
    expect(page.locator("#documents-title")).to_be_visible()
    page.route(
        "**/indexes/void/documents",
        lambda route: route.fulfill(body=json.dumps(states[0]), content_type="application/json"),
    )
    page.route("**/v1/jobs/j1/events", events)
    page.locator("#files").set_input_files([text_file(name, "x") for name in ("a.pdf", "b.txt")])
    expect(page.locator(".item.stopped")).to_contain_text("b.txt")
    expect(page.locator(".queue .item.failed")).to_contain_text("a.pdf")


def test_a_file_that_was_mended_since_it_was_chosen_is_asked_for_again_and_comes_in(
    page: Page, visit: Visit, tmp_path: Path
) -> None:
    visit.client.post("/v1/indexes", json={"name": "mended"})
    page.goto(f"{visit.address}/library?index=mended")
    file = tmp_path / "plan.pdf"
    file.write_text("%PDF-1.7 nothing")
    page.locator("#files").set_input_files(file)
    expect(page.locator(".queue .item.failed .item-why")).to_contain_text("PDF")
    file.write_bytes(pdf_of([[Words(72, 700, "The plan is to nest early.")]]))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".queue .item.failed .item-why")).to_contain_text("changed or moved since it was chosen")
    expect(page.locator(".banner")).to_have_count(0)
    page.locator("#files").set_input_files(file)
    expect(page.locator(".item.done")).to_contain_text("plan.pdf")


SEEN = """window.seen = new Set();
new MutationObserver(() => {
  for (const one of document.querySelectorAll(".item-state, #status")) window.seen.add(one.textContent.trim());
}).observe(document, { subtree: true, childList: true, characterData: true });"""


def test_on_a_slow_network_every_step_is_said_and_what_was_typed_meanwhile_stays(
    browser: Browser, visit: Visit
) -> None:
    with opened(browser, visit.address, "/docs") as page:
        page.add_init_script(SEEN)
        slow = page.context.new_cdp_session(page)
        slow.send("Network.enable")
        rates = {"latency": 100, "downloadThroughput": 300_000, "uploadThroughput": 100_000}
        slow.send("Network.emulateNetworkConditions", {"offline": False, **rates})
        page.goto(f"{visit.address}/search?index=notes", wait_until="commit")
        page.locator("#query").fill("tower in Paris")
        page.keyboard.press("Enter")
        expect(page.locator(".hit .title").first).to_have_text("tower.txt")
        expect(page.locator("#query")).to_have_value("tower in Paris")
        assert "Searching …" in page.evaluate("[...window.seen]")

        page.goto(f"{visit.address}/library?index=void")
        page.locator("#files").set_input_files([text_file("long.txt", "Herons wait for fish. " * 5_000)])
        expect(page.locator(".item.done")).to_contain_text("long.txt")
        seen = " ".join(page.evaluate("[...window.seen]"))
        assert re.search(r"being sent [1-9]\d?%", seen), seen
        page.get_by_role("button", name=re.compile("^Delete .long.txt")).click()
        expect(page.locator(".documents")).to_contain_text("This index is empty.")


def test_without_a_network_a_question_and_files_wait_and_go_on_by_themselves(page: Page, visit: Visit) -> None:
    visit.client.post("/v1/indexes", json={"name": "offline"})
    page.goto(f"{visit.address}/library?index=offline")
    expect(page.locator("#documents-title")).to_be_visible()
    page.context.set_offline(True)
    try:
        page.locator("#files").set_input_files([text_file("tern.txt", "Terns dive for fish.")])
        expect(page.locator(".queue [role=status]")).to_contain_text("waits for the server")
        expect(page.locator(".banner")).to_contain_text("cannot be reached")
    finally:
        page.context.set_offline(False)
    expect(page.locator(".item.done")).to_contain_text("tern.txt")

    page.goto(f"{visit.address}/ask?index=notes")
    page.locator("#question").fill("When was the Eiffel tower in Paris finished?")
    page.context.set_offline(True)
    try:
        page.keyboard.press("Enter")
        expect(page.locator(".turn .error")).to_contain_text("cannot be reached")
    finally:
        page.context.set_offline(False)
    expect(page.locator(".turn .prose")).to_contain_text("1889")
    expect(page.locator(".banner")).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(1)
