"""Two ways to search compared for a query set, in the view Compare: question by question, and as a whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import opened

DOCS = [Path(__file__).resolve().parents[2] / "docs" / name for name in ("filters.md", "web.md")]
PATH = "/compare?index=fruits&set=judged&a.mode=vector&b.mode=bm25"


@pytest.fixture(scope="module")
def fruits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """Two documents; who knows a pear finds it by words, and who asks for fruit finds nothing by words."""
    home = tmp_path_factory.mktemp("fruits")
    fill(home, "fruits", {"apple.txt": "apple", "pear.txt": "pear"})
    grades = [("pear", "pear.txt", 3), ("fruit", "apple.txt", 1), ("fruit", "pear.txt", 1), ("nothing", "pear.txt", 0)]
    with visiting(home) as one:
        for query, source, grade in grades:
            graded = {"query": query, "source": source, "grade": grade}
            assert one.client.put("/v1/indexes/fruits/judgements", json=graded).status_code == 200
        yield one


def rows(page: Page) -> list[list[str]]:
    """Return the cells of the table of questions."""
    lines = page.locator(".log-rows tbody tr")
    return [lines.nth(at).locator("td").all_text_contents() for at in range(lines.count())]


def test_two_ways_are_compared_for_all_judged_questions(browser: Browser, fruits: Visit) -> None:
    # pear: by meaning both are found, by words one: 1/2 in common, RBO 1/2 · .9² + 1/9 · (.9 + 1/2 · .9²) = .55,
    # and nDCG 1 for both. fruit: two against none: nothing in common, nDCG 1 against 0. "nothing" has no good document.
    with opened(browser, fruits.address, PATH) as page:
        expect(page.locator(".wins").first).to_be_visible()
        assert rows(page) == [
            ["fruit", "0%", "0%", "no", "1.000", "0", "1.000"],
            ["pear", "50%", "55%", "yes", "1.000", "1.000", "0"],
        ]
        assert page.locator(".measures dd").all_text_contents() == ["25%", "28%", "1 / 2", "0 / 2"]
        ndcg = page.locator("[aria-labelledby=differences] .scrolls tbody tr").first.locator("td")
        assert ndcg.all_text_contents()[:2] == ["nDCG@10", "0.500"]
        assert float(ndcg.nth(2).text_content() or "") <= 1.0  # how likely chance alone makes as much
        expect(page.locator(".wins").first).to_have_attribute("aria-label", "A better: 1, same: 1, B better: 0")

        page.get_by_role("link", name="fruit").click()
        expect(page.locator(".side-a .move.only")).to_have_count(2)
        page.go_back()
        expect(page.locator(".log-rows tbody tr")).to_have_count(2)
        page.reload()
        expect(page.locator(".wins").first).to_be_visible()
        assert len(rows(page)) == 2


def test_the_same_way_twice_moves_nothing(browser: Browser, fruits: Visit) -> None:
    with opened(browser, fruits.address, PATH) as page:
        expect(page.locator(".wins").first).to_be_visible()
        page.locator(".side-b").get_by_label("Search by").select_option("vector")
        expect(page.locator(".measures dd").last).to_have_text("2 / 2")
        expect(page.locator("[aria-labelledby=differences] .scrolls")).to_contain_text("The same for every question.")


def test_a_set_without_questions_says_so(browser: Browser, fruits: Visit) -> None:
    with opened(browser, fruits.address, "/compare?index=fruits") as page:
        page.get_by_role("link", name="A query set").press("Enter")
        expect(page.locator(".wins").first).to_be_visible()
        page.get_by_label("Questions").select_option("logged")
        expect(page.get_by_role("heading", name="No questions were found.")).to_be_visible()
        expect(page.locator(".wins")).to_have_count(0)
        expect(page).to_have_url(fruits.address + "/compare?index=fruits&set=logged")
        page.get_by_label("Questions").select_option("made")
        expect(page.get_by_role("alert")).to_contain_text("No questions can be made from these documents.")


def test_questions_made_from_the_documents_are_compared(browser: Browser, fruits: Visit) -> None:
    fill(fruits.home, "guide", {path.name: path.read_text() for path in DOCS})
    with opened(browser, fruits.address, "/compare?index=guide&set=made") as page:
        expect(page.get_by_text("Which way is better shows once such questions are judged")).to_be_visible()
        expect(page.locator(".log-rows tbody a").first).to_be_visible()
        expect(page.locator(".wins")).to_have_count(0)


def test_a_long_comparison_can_be_stopped(browser: Browser, fruits: Visit) -> None:
    with opened(browser, fruits.address, "/search?index=fruits") as page:
        held: list[Route] = []

        def keep(route: Route) -> None:
            held.append(route)  # its answer does not come

        page.route("**/search%3Abatch", keep)
        page.goto(fruits.address + PATH)
        expect(page.locator(".meter")).to_contain_text("0 of 2 questions")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".meter")).to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)
        page.unroute("**/search%3Abatch")
        page.reload()
        expect(page.locator(".log-rows tbody tr")).to_have_count(2)


def test_what_was_measured_is_measured_again_after_a_reload(browser: Browser, fruits: Visit) -> None:
    with opened(browser, fruits.address, "/experiments?index=fruits&a.mode=vector") as page:
        page.get_by_role("button", name="Measure").click()
        expect(page.locator("#differences")).to_be_visible()
        page.reload()
        expect(page.locator("#differences")).to_be_visible()
        page.locator(".side-b").get_by_label("Search by").select_option("vector")
        expect(page.locator("#differences")).to_have_count(0)  # these two ways were not measured yet
