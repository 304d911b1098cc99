"""Compare, Judge, Experiments and Settings, by mouse and by keyboard."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import opened
from twofold import Index
from twofold.evaluation.tuning import MIN_QUESTIONS


def test_two_ways_are_compared_with_what_moved(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/compare?index=notes")
    page.keyboard.press("Tab")
    expect(page.locator("#query")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("tower in Paris")
    page.keyboard.press("Enter")
    expect(page.locator(".side-a .title").first).to_have_text("tower.txt")
    expect(page.locator(".measures")).to_contain_text("In both")
    page.locator(".side-b").get_by_label("Search by").select_option("hybrid")
    expect(page.locator(".measures")).to_contain_text("100%")
    expect(page.locator(".move.only")).to_have_count(0)
    page.reload()
    expect(page.locator(".measures")).to_contain_text("100%")


def test_each_of_two_ways_says_how_it_found_its_passages(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/compare?index=notes&q=tower&b.mode=bm25")
    for side, sides in (("b", 1), ("a", 2)):
        page.locator(f".side-{side}").get_by_role("button", name="How these were found").click()
        expect(page.locator("#explain .ladder .side")).to_have_count(sides)  # one retriever, and both
    page.reload()
    expect(page.locator("#explain .ladder .side")).to_have_count(2)


def test_the_overlap_of_two_lists_is_what_the_formula_gives(page: Page) -> None:
    # RBO of abc and bca at p = 1/2: agreement 0, 1/2, 1; 1 · 1/8 + (1/2 / 1/2) · (0/2 + 1/2 · 1/4 + 1 · 1/8) = 3/8.
    found = page.evaluate(
        """async () => {
          const { jaccard, rankBiasedOverlap } = await import("/page/overlap.js");
          const [a, b] = [["a", "b", "c"], ["b", "c", "a"]];
          return [jaccard(a, b), jaccard(a, ["a", "d"]), rankBiasedOverlap(a, b, 0.5), rankBiasedOverlap(a, a),
            rankBiasedOverlap(a, ["x"]), rankBiasedOverlap([], [])];
        }"""
    )
    assert found == [1, 0.25, pytest.approx(0.375), pytest.approx(1), 0, 1]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("judged")
    fill(home)
    with visiting(home) as one:
        yield one


def test_passages_are_judged_by_keys_and_two_ways_are_measured_by_it(browser: Browser, judged: Visit) -> None:
    with opened(browser, judged.address, "/judge?index=notes") as page:
        expect(page.locator("#new-question")).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("tower in Paris")
        page.keyboard.press("Enter")
        expect(page.locator(".judged-text")).to_be_focused()  # a key grades, and is not written into the box
        count = int((page.locator(".meter").text_content() or "").split(" of ")[1].split()[0])
        for done in range(count):
            expect(page.locator(".meter")).to_contain_text(f"{done} of {count} judged")
            name = page.locator(".judged .where").text_content() or ""
            page.keyboard.press("3" if "tower" in name else "0")
        expect(page.locator(".lesson")).to_contain_text("is judged")
        given = {
            one["source"]: one["grade"]
            for one in judged.client.get("/v1/indexes/notes/judgements").json()["judgements"]
        }
        assert {source for source, grade in given.items() if grade} == {"tower.txt"}
        with page.expect_download() as kept:
            page.get_by_role("button", name="Export").click()
        assert '{"tower.txt":3}' in kept.value.path().read_text()

        page.get_by_role("link", name="Measure").click()
        page.locator(".side-b").get_by_label("Search by").select_option("vector")
        expect(page.get_by_role("button", name="Measure")).to_be_enabled()  # until then it takes no focus
        page.get_by_role("button", name="Measure").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".charts .chart").first).to_contain_text("nDCG@10")
        expect(page.locator("#differences")).to_be_visible()
        expect(page.get_by_text("Too few questions to be sure.")).to_be_visible()
        expect(page.locator(".snippet-ci")).to_have_count(1)
        expect(page.get_by_role("button", name="Find better settings")).to_be_disabled()


def test_settings_that_were_tuned_are_shown_with_their_proof_and_used(browser: Browser, tmp_path: Path) -> None:
    interval = {"mean": 0.2, "low": 0.1, "high": 0.3}
    difference = {"metric": "ndcg@10", "interval": interval, "p_holm": 0.01, "detectable": 0.1}
    outcome = {
        "winner": {"fusion.vector_weight": 0.3}, "reason": "It wins on questions that had no part.", "confirming": 12,
        "confirmed": [{"name": "tuned", "differences": [difference]}],
        "trials": [{"changes": {}, "mean": 0.5}, {"changes": {"fusion.vector_weight": 0.3}, "mean": 0.7}],
    }  # fmt: skip
    said = [{"type": "measured", "count": 1}, {"type": "done", "tuning": outcome}]
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in said)
    fill(tmp_path)
    found = "/search?index=notes&q=tower+in+Paris"
    with visiting(tmp_path) as visit, opened(browser, visit.address, found) as page:
        expect(page.locator(".hit").first).to_be_visible()
        page.route("**/tune", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
        tuned = page.get_by_role("button", name="Find better settings")
        for at in range(MIN_QUESTIONS):
            graded = {"query": f"tower in Paris {at}", "source": "tower.txt", "grade": 3}
            assert visit.client.put("/v1/indexes/notes/judgements", json=graded).status_code == 200
            if at == MIN_QUESTIONS - 2:  # what the server would refuse is not offered
                page.get_by_role("link", name="Experiments").click()
                expect(page.locator(".experiments-view")).to_contain_text(f"From {MIN_QUESTIONS} judged questions on.")
                expect(tuned).to_be_disabled()
                page.go_back()
        page.get_by_role("link", name="Experiments").click()
        expect(tuned).to_be_enabled()
        page.get_by_role("button", name="Find better settings").press("Enter")
        expect(page.locator(".verdict")).to_contain_text("Better settings were found.")
        expect(page.locator(".verdict figcaption")).to_contain_text("On 12 questions that had no part in the choice")
        page.get_by_role("button", name="Use them").press("Enter")
        expect(page.locator(".notice")).to_have_text("The index uses them from now on.")
        with page.expect_request("**/explain"):  # what it found before was with other settings
            page.go_back()
        expect(page.locator(".hit").first).to_be_visible()
    with Index("notes", overrides={"embedder": "hashing", "offline": True, "home": str(tmp_path)}) as index:
        assert index.get_settings() == {"fusion.vector_weight": "0.3"}


def test_questions_come_from_a_file(browser: Browser, judged: Visit) -> None:
    with opened(browser, judged.address, "/judge?index=notes") as page:
        page.locator('input[type="file"]').set_input_files(
            {
                "name": "q.jsonl",
                "mimeType": "text/plain",
                "buffer": b'{"_id": "1", "text": "cat mat"}\n{"query": "git"}\n',
            }
        )
        expect(page.locator(".question-list a", has_text="git")).to_be_visible()
        expect(page).to_have_url(re.compile("q=cat\\+mat"))


def test_a_token_is_made_shown_once_and_used_by_the_page_itself(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("tokens")
    fill(home)
    with visiting(home) as visit, opened(browser, visit.address, "/settings") as page:
        expect(page.locator("#tokens")).to_be_visible()
        page.get_by_label("Whose").fill("<b>laptop</b>")
        page.get_by_label("May").select_option("admin")
        page.get_by_role("button", name="Make a token").click()
        expect(page.locator(".secret")).to_contain_text("tf_")
        expect(page.locator(".token-list")).to_contain_text("<b>laptop</b>")
        page.reload()
        expect(page.locator(".secret")).to_have_count(0)
        expect(page.locator(".token-list")).to_contain_text("admin:*")
        page.get_by_role("button", name="Revoke").click()
        expect(page.locator(".revoked")).to_contain_text("revoked")
