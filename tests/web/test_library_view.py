"""The library: first run, uploads with failures, sync with a plan, a long list of documents, and one document."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import focused, opened

ROWS = 100_000


def text_file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_the_first_files_are_dropped_and_can_be_searched(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with visiting(tmp_path_factory.mktemp("bare")) as bare, opened(browser, bare.address) as page:
        expect(page.locator("h1")).to_have_text("Begin with your documents")
        page.get_by_label("Name of the index").fill("mine")
        page.locator("#files").set_input_files([text_file("owl.txt", "Owls hunt at night.")])
        expect(page.locator(".item.done")).to_contain_text("owl.txt")
        expect(page.locator(".row-name")).to_have_text(["owl.txt"])
        page.get_by_role("link", name="Search").click()
        page.locator("#query").fill("owls at night")
        page.keyboard.press("Enter")
        expect(page.locator(".hit .title")).to_have_text(["owl.txt"])


def test_of_many_files_those_that_fail_say_why_and_can_be_sent_again(page: Page, visit: Visit) -> None:
    visit.client.post("/v1/indexes", json={"name": "many"})
    page.goto(f"{visit.address}/library?index=many")
    good = [text_file(f"note-{at}.txt", f"Note {at} about herons.") for at in range(47)]
    bad = [text_file(f"broken-{at}.pdf", "%PDF-1.7 nothing") for at in range(3)]
    page.locator("#files").set_input_files([*good, *bad])
    expect(page.locator(".queue [role=status]")).to_contain_text("47 of 50 in the index, 3 failed", timeout=90_000)
    expect(page.locator(".queue .item.failed")).to_have_count(3)
    expect(page.locator(".queue .item.failed .item-why").first).not_to_be_empty()
    expect(page.locator("#documents-title")).to_have_text("47 documents")
    expect(page.locator(".jobs .job")).to_have_count(4)  # of 2, 20, 20 and 8 files
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".jobs .job")).to_have_count(5)
    expect(page.locator(".queue .item.failed")).to_have_count(3)
    page.get_by_role("button", name="Clear the list").click()
    expect(page.locator(".queue")).to_have_count(0)
    page.reload()
    page.locator(".work summary").first.click()
    expect(page.locator(".job").first).to_contain_text("3 failed")


def test_what_is_looked_for_in_a_document_is_marked_where_it_stands(browser: Browser, tmp_path: Path) -> None:
    """A Turkish capital I with a dot is two letters in lower case: what follows must not move by one for each."""
    fill(tmp_path, texts={"sehir.txt": "\u0130stanbul ve \u0130zmir: feribot saat on birde kalkar."})
    with visiting(tmp_path) as visit, opened(browser, visit.address) as page:
        document = visit.client.get("/v1/indexes/notes/documents").json()["documents"][0]["id"]
        page.goto(f"{visit.address}/document?index=notes&doc={document}&find=feribot")
        expect(page.locator(".doc-body mark")).to_have_text(["feribot"])
        page.goto(f"{visit.address}/document?index=notes&doc={document}&find=istanbul")
        expect(page.locator(".doc-body mark")).to_have_text(["\u0130stanbul"])


def test_a_file_is_dropped_on_the_page(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/library?index=void")
    page.locator(".drop").evaluate(
        """(zone) => {
          const carried = new DataTransfer();
          carried.items.add(new File(["Lapwings nest on the ground."], "<img src=x onerror=alert(1)>.txt"));
          zone.dispatchEvent(new DragEvent("dragover", { dataTransfer: carried, bubbles: true, cancelable: true }));
          zone.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator(".item.done")).to_contain_text("<img src=x onerror=alert(1)>.txt")
    assert page.locator("main img").count() == 0
    expect(page.locator(".row-name")).to_have_count(1)
    page.get_by_role("button", name=re.compile("^Delete .<img")).click()
    expect(page.locator(".documents")).to_contain_text("This index is empty.")


def test_an_upload_goes_on_when_the_server_is_back(page: Page, visit: Visit) -> None:
    visit.client.post("/v1/indexes", json={"name": "resumed"})
    page.goto(f"{visit.address}/library?index=resumed")
    expect(page.locator("#documents-title")).to_be_visible()
    page.route("**/documents", lambda route: route.abort("connectionrefused"))
    page.route("**/healthz", lambda route: route.abort("connectionrefused"))
    page.locator("#files").set_input_files([text_file("tern.txt", "Terns dive for fish.")])
    expect(page.locator(".banner")).to_contain_text("cannot be reached")
    expect(page.locator(".queue [role=status]")).to_contain_text("waits for the server")
    page.unroute_all()
    expect(page.locator(".item.done")).to_contain_text("tern.txt")
    expect(page.locator(".banner")).to_have_count(0)


def test_a_folder_of_the_server_is_synced_after_its_plan_was_seen(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "otter.md").write_text("# Otters\n\nOtters swim.")
    home = tmp_path_factory.mktemp("synced")
    fill(home, "own", texts={})
    with visiting(home, roots=(root,)) as visit:
        visit.client.post("/v1/indexes", json={"name": "own"})
        with opened(browser, visit.address, "/library?index=own") as page:
            page.locator(".folders summary").click()
            page.get_by_role("button", name="What would change?").click()
            expect(page.locator(".plan")).to_contain_text("add 1 file otter.md")
            assert visit.client.get("/v1/indexes/own").json()["documents"] == 0
            page.get_by_role("button", name="Sync now").click()
            expect(page.locator(".row-name")).to_have_text(["otter.md"])


def test_an_index_is_made_checked_and_deleted_by_its_name(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/library?index=void")
    page.locator(".manage > summary").click()
    page.get_by_label("New index").fill("brief")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("brief")
    page.get_by_role("button", name="Check this index").click()
    expect(page.get_by_text("All is well.")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).first.click()
    page.get_by_label("Type brief to go on").fill("wrong")
    page.keyboard.press("Enter")
    assert "brief" in visit.client.get("/v1/indexes").json()["indexes"]
    page.get_by_label("Type brief to go on").fill("brief")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_have_text("The index brief was deleted.")
    assert "brief" not in visit.client.get("/v1/indexes").json()["indexes"]


def test_a_list_of_a_hundred_thousand_documents_scrolls_by_the_rows_in_sight(page: Page, visit: Visit) -> None:
    def listed(route: Route) -> None:
        offset = int(re.search(r"offset=(\d+)", route.request.url)[1])  # type: ignore[index]
        some = [
            {"id": f"d{at}", "source": f"folder/file-{at}.txt", "title": "", "media_type": "text/plain", "metadata": {},
             "content_hash": "", "chunks": 1, "characters": 10}
            for at in range(offset, min(offset + 200, ROWS))
        ]  # fmt: skip
        route.fulfill(
            body=json.dumps({"documents": some, "offset": offset, "total": ROWS}), content_type="application/json"
        )

    page.route("**/documents?**", listed)
    page.goto(f"{visit.address}/library?index=notes")
    rows = page.locator(".rows")
    expect(page.locator("#documents-title")).to_have_text("100,000 documents")
    rows.evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
    expect(page.locator(".row-name").last).to_have_text("file-99999.txt")
    assert page.locator(".row").count() < 60
    rows.evaluate("(box) => { box.scrollTop = 44 * 50_000; }")
    expect(page.locator(".row-name", has_text="file-50000.txt")).to_be_visible()


def test_documents_are_found_by_name_and_the_list_is_an_address(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/library?index=notes")
    expect(page.locator(".row-name").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#documents-search")).to_be_focused()
    page.keyboard.type("FERR")
    page.keyboard.press("Enter")
    expect(page.locator(".row-name")).to_have_text(["ferries.txt"])
    page.reload()
    expect(page.locator(".row-name")).to_have_text(["ferries.txt"])
    page.locator(".row-name").click()
    expect(page.locator("h1")).to_have_text("ferries.txt")
    page.go_back()
    expect(page.locator(".row-name")).to_have_text(["ferries.txt"])


def test_a_document_is_read_searched_and_shown_as_pages_and_passages(page: Page, visit: Visit) -> None:
    info = visit.client.get("/v1/indexes/notes/documents?q=alps.pdf").json()["documents"][0]
    page.goto(f"{visit.address}/document?index=notes&doc={info['id']}")
    expect(page.locator("h1")).to_be_visible()
    page.keyboard.press("/")
    assert focused(page) == "find"
    page.keyboard.type("marmots")
    page.keyboard.press("Enter")
    expect(page.locator(".doc-body mark")).to_have_text(["Marmots"])
    page.get_by_role("link", name="Pages").click()
    image = page.locator("page-image img").first
    assert image.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 100
    page.reload()
    expect(page.locator("page-image img").first).to_be_visible()
    page.get_by_role("link", name="Passages").click()
    expect(page.locator(".chunk").first).to_contain_text("characters 0 to")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download").click()
    assert Path(kept.value.path()).read_bytes().startswith(b"%PDF")
    page.go_back()
    expect(page.locator("page-image img").first).to_be_visible()


def test_a_search_hit_of_a_pdf_opens_beside_the_picture_of_its_page(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/search?index=notes&q=marmots+whistle")
    page.locator(".title", has_text="alps.pdf").first.click()
    picture = page.locator("#source-page img")
    expect(picture).to_have_attribute("alt", "Page 2, with the passage marked")
    assert picture.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 100
    page.get_by_role("tab", name="Page").press("ArrowRight")
    expect(page.locator("#source-text mark")).to_have_text(["Marmots", "whistle"])


def test_a_job_is_followed_once_however_often_another_tab_changes_documents(page: Page, visit: Visit) -> None:
    job = {"id": "slow", "index": "notes", "kind": "sync", "state": "running", "created": "2026-01-01T00:00:00+00:00",
           "done": 1, "total": 9, "files": [], "counts": {}, "problem": None, "finished": ""}  # fmt: skip
    listed: list[Route] = []
    followed: list[Route] = []

    def lists(route: Route) -> None:
        listed.append(route)
        route.fulfill(json={"jobs": [job]})

    def follows(route: Route) -> None:
        followed.append(route)  # and never answered: each that follows the job is one more

    page.route("**/v1/jobs", lists)
    page.route("**/v1/jobs/slow", follows)
    page.goto(f"{visit.address}/library?index=notes")
    expect(page.locator(".jobs .job")).to_have_count(1)
    for _ in range(5):
        with page.expect_response("**/v1/jobs"):
            page.evaluate("new BroadcastChannel('twofold').postMessage('documents')")
    page.locator(".work summary").click()
    expect(page.locator(".jobs .job")).to_contain_text("1 of 9")
    assert (len(listed), len(followed)) == (6, 1)
