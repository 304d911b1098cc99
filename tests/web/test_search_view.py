"""The view Search as people use it, mostly by the keyboard alone."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import TEXTS, Visit, fill, visiting
from support.browser import HOSTILE, SENTENCE, focused, on_screen, opened, search

MARKED: list[tuple[str, list[str], list[str]]] = [
    ("He commits, committed, and is committing.", ["commit"], ["commits", "committed", "committing"]),
    ("commitments and committees", ["commit"], ["commitments", "committees"]),
    ("Happy, happier; unhappy", ["happi"], ["Happy", "happier"]),
    ("Über die Brücke", ["uber", "bruck"], ["Über", "Brücke"]),
    ("我喜欢北京烤鸭", ["北京", "京烤"], ["北京烤"]),
    ("a an the", ["th"], []),
]


def test_a_search_by_keyboard_opens_the_passage_with_its_words_on_screen(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("night ferry Ostend")
    page.keyboard.press("Enter")
    first = page.locator(".hit").first
    expect(first.locator("mark")).to_have_text(["night", "ferry", "Ostend"])
    assert on_screen(first.locator("mark").first)

    page.keyboard.press("ArrowDown")
    assert focused(page) == "ferries.txt"
    page.keyboard.press("Enter")
    found = page.locator("#source-text mark", has_text="Ostend")
    expect(found).to_be_visible()
    assert on_screen(found)

    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_have_count(0)
    assert focused(page) == "ferries.txt"


def test_a_search_is_an_address_that_reload_back_and_a_copy_of_it_show_again(
    page: Page, browser: Browser, visit: Visit
) -> None:
    search(page, "tower in Paris")
    page.get_by_role("radio", name="Words").check(force=True)
    expect(page).to_have_url(re.compile(r"mode=bm25"))
    page.get_by_label("By document").check()
    page.locator(".title").first.click()
    expect(page.locator("#source-text mark").first).to_be_visible()
    address = page.url

    page.reload()
    expect(page.locator("#source-text mark").first).to_be_visible()
    expect(page.get_by_label("By document")).to_be_checked()
    with opened(browser, visit.address, address.removeprefix(visit.address)) as other:
        expect(other.locator("#source-text mark").first).to_be_visible()
        expect(other.get_by_label("By document")).to_be_checked()
    page.go_back()
    expect(page.locator("#source")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("radio", name="Both")).to_be_checked()
    page.go_back()
    expect(page.locator(".lesson")).to_be_visible()
    page.go_forward()
    expect(page.locator(".hit").first).to_be_visible()


def test_the_file_comes_first_and_only_the_words_of_the_question_are_marked(page: Page) -> None:
    search(page, "tower in Paris")
    first = page.locator(".hit").first
    expect(first.locator(".title")).to_have_text("tower.txt")
    expect(first.locator("mark")).to_have_text(["tower", "Paris"])


def test_a_table_is_shown_as_a_table_of_the_rows_that_were_found(page: Page) -> None:
    search(page, "fare to Ostend")
    hit = page.locator(".hit", has=page.get_by_text("fares.md", exact=True))
    expect(hit.locator("th")).to_have_text(["port", "fare"])
    expect(hit.locator("td")).to_have_text(["Ostend", "40 euros"])
    expect(hit.locator(".folder")).to_have_text("docs")


def test_what_documents_say_is_shown_as_text_and_never_run(page: Page) -> None:
    search(page, "wombat burrows")
    expect(page.locator(".hit").first).to_contain_text("<script>document.title = 'owned'</script>")
    expect(page.locator(".hit").first.locator(".title")).to_have_text("b>.md")
    page.locator(".hit .title").first.click()
    expect(page.locator("#source-text")).to_have_text(HOSTILE)
    assert page.locator("main script, main img, aside script, aside img, b").count() == 0
    assert page.title() == "wombat burrows · Search · twofold"


def test_the_bar_is_split_by_what_words_and_what_meaning_gave(page: Page, visit: Visit) -> None:
    search(page, "tower in Paris")
    bar = page.locator(".hit").first.locator(".score")
    asked = {"query": "tower in Paris", "mode": "hybrid", "k": 10}
    hit = visit.client.post("/v1/indexes/notes/search", json=asked).json()["hits"][0]
    parts = {one["retriever"]: one["part"] for one in hit["retrievers"]}
    share = round(100 * parts["bm25"] / sum(parts.values()))
    expect(bar).to_have_attribute("title", f"words {share}%, meaning {100 - share}%")
    widths = bar.locator(".bar > span").evaluate_all("(all) => all.map((one) => parseFloat(one.style.width))")
    assert sum(widths) == pytest.approx(100.0, abs=0.1)

    page.get_by_role("radio", name="Words").check(force=True)
    expect(bar).to_have_attribute("title", "words 100%")
    expect(page.locator(".legend")).not_to_contain_text("meaning")


def test_the_explanation_is_a_sentence_and_the_score_to_its_last_digit(page: Page, visit: Visit) -> None:
    search(page, "tower in Paris")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("e")
    asked = {"query": "tower in Paris", "mode": "hybrid", "k": 10}
    score = visit.client.post("/v1/indexes/notes/search", json=asked).json()["hits"][1]["score"]
    why = page.locator(".hit").nth(1).locator(".explanation")
    expect(why).to_contain_text(re.compile(r"Found by (words|meaning) \(place \d+\)|Found on the way"))
    why.get_by_text("Details").click()
    expect(why.locator(".exact")).to_contain_text(f"{score:,.3f}"[:4])
    expect(why.locator("caption").first).to_contain_text("By retriever")
    assert json.dumps(score)


def test_the_focus_moves_among_results_and_back_to_the_box(page: Page) -> None:
    search(page, "tower ferry cat commit")
    titles = page.locator(".hit .title").all_text_contents()
    page.keyboard.press("ArrowDown")
    for key, expected in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert focused(page) == titles[expected]
    page.keyboard.press("k")
    assert focused(page) == "query"
    page.keyboard.type("jk?e/1")
    expect(page.locator("#query")).to_have_value("tower ferry cat commitjk?e/1")  # in the box, keys are letters


def test_a_filter_narrows_and_what_is_wrong_with_it_is_said_beside_it(page: Page) -> None:
    page.locator("#options > summary").click()
    page.locator("#query").fill("tower ferry cat")
    page.get_by_label("Filter").fill("source ==")
    page.keyboard.press("Enter")
    expect(page.locator("#filter-says")).to_contain_text("The filter wants a value")
    expect(page.get_by_label("Filter")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Filter").fill("source == cat.txt")
    page.keyboard.press("Enter")
    expect(page.locator(".hit .title")).to_have_text(["cat.txt"])
    expect(page.get_by_label("Filter")).to_have_attribute("aria-invalid", "false")


def test_what_was_typed_into_a_form_outlives_what_the_page_hears_meanwhile(page: Page) -> None:
    page.locator("#options > summary").click()
    page.locator(".expert > summary").click()
    page.get_by_label("Filter").fill("source == cat.txt")
    page.get_by_label("Neighbors").fill("2")
    page.get_by_label("Words", exact=True).check()
    page.context.set_offline(True)
    page.evaluate("dispatchEvent(new Event('offline'))")
    expect(page.locator(".banner")).to_be_visible()
    page.context.set_offline(False)
    page.locator("#query").fill("tower ferry cat")
    page.keyboard.press("Enter")
    expect(page.locator(".hit .title")).to_have_text(["cat.txt"])
    expect(page).to_have_url(re.compile("mode=bm25.*context_window=2|context_window=2.*mode=bm25"))


def test_the_ways_of_searching_are_asked_of_the_server_as_they_were_set(page: Page) -> None:
    page.locator("#options > summary").click()
    page.locator(".expert > summary").click()
    page.locator("#query").fill("tower")
    for label, value in (("Neighbors", "2"), ("Weight of meaning", "0.5"), ("Passages to read again", "7")):
        page.get_by_label(label).fill(value)
    page.get_by_label("Read the best again").uncheck()
    with page.expect_request("**/explain") as tuned:
        page.get_by_role("button", name="Search").click()
    said = tuned.value.post_data_json or {}
    assert said["rerank"] is False
    assert said["settings"] == {"search.context_window": 2, "fusion.vector_weight": 0.5, "rerank.candidates": 7}


def test_more_results_are_a_page_of_their_own(page: Page) -> None:
    """The number of the page is that of the hits on screen, also while the next ones are on their way."""
    search(page, "boats of note")
    first = page.locator(".hit").evaluate_all("(all) => all.map((one) => one.dataset.chunk)")
    held: list[Route] = []
    page.route("**/explain", lambda route: held.append(route))  # noqa: PLW0108  # the library looks into it
    with page.expect_request("**/explain"):
        page.get_by_role("link", name="More results").click()
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.locator(".pages")).to_contain_text("page 1")
    held[0].continue_()
    expect(page.locator(".pages")).to_contain_text("page 2")
    second = page.locator(".hit").evaluate_all("(all) => all.map((one) => one.dataset.chunk)")
    assert second
    assert not set(first) & set(second)


def test_what_was_found_can_be_sorted_and_grouped(page: Page) -> None:
    search(page, "tower cat commit boats")
    page.get_by_label("Sort").select_option("name")
    found = ["b>.md", "alps.pdf", "alps.pdf", "cat.txt", "fares.md", *["ferries.txt"] * 5]  # of 10 by path; one is odd
    expect(page.locator(".hit .title")).to_have_text(found)
    page.get_by_label("By document").check()
    expect(page.locator(".more-of").first).to_be_visible()
    titles = page.locator(".hit .title").all_text_contents()
    assert len(titles) == len(set(titles))


def test_a_search_is_narrowed_by_values_with_their_counts_and_by_dates(page: Page) -> None:
    search(page, "tower cat commit boats")
    page.get_by_role("button", name="Narrow down").click()
    markdown = page.locator(".facet").get_by_role("button", name=re.compile(r"^\.md \d+$"))
    expect(markdown).to_have_attribute("aria-pressed", "false")
    count = int((markdown.text_content() or "").split()[-1])
    markdown.click()
    expect(markdown).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"filter="))
    page.get_by_label("By document").check()
    expect(page.locator(".hit")).to_have_count(count)
    names = page.locator(".hit .title").all_text_contents()
    assert all(name.endswith(".md") for name in names)

    page.locator(".narrow").get_by_label("from").fill("2999-01-01")
    expect(page.locator(".lesson")).to_contain_text("Nothing was found")
    page.locator(".narrow").get_by_label("from").fill("")
    expect(page.locator(".hit")).to_have_count(count)
    markdown.click()
    expect(page).not_to_have_url(re.compile(r"filter="))


def test_a_filter_that_was_read_out_of_the_question_can_be_taken_back(page: Page) -> None:
    search(page, "tower in markdown files")
    page.locator("#options > summary").click()
    page.get_by_label("Heed dates, types").check()
    expect(page.locator(".chip")).to_contain_text("in markdown files")
    expect(page.locator(".hit .title").first).to_contain_text(".md")
    page.get_by_role("button", name="Take back “in markdown files”").click()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator(".hit .title").first).to_have_text("tower.txt")


def test_a_search_that_finds_nothing_says_what_to_try(page: Page) -> None:
    page.locator("#query").fill("+zzyzx")
    page.keyboard.press("Enter")
    expect(page.locator(".lesson")).to_contain_text("Nothing was found")


def test_a_server_that_is_gone_is_told_in_words_and_the_search_goes_on_when_it_is_back(page: Page) -> None:
    page.route("**/v1/**", partial(Route.abort, error_code="connectionrefused"))
    page.locator("#query").fill("tower")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
    page.unroute("**/v1/**")
    expect(page.locator(".banner")).to_have_count(0)
    page.locator("#query").fill("tower")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_be_visible()


def test_several_indexes_are_searched_together_and_stand_in_the_address(page: Page) -> None:
    page.locator("#picker summary").click()
    page.get_by_role("checkbox", name="boats").check()
    expect(page).to_have_url(re.compile("index=boats&index=notes"))
    page.keyboard.press("Escape")
    search(page, "a flat boat with a pole")
    found = set(page.locator(".hit .collection").all_text_contents())
    assert found == {"boats", "notes"}
    page.locator(".hit", has=page.get_by_text("punts.txt")).locator(".title").click()
    expect(page.locator("#source-text")).to_contain_text("A punt is a flat boat")


def test_indexes_of_different_models_are_searched_together_all_the_same(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("mixed")
    fill(home, "places", texts=TEXTS)
    with visiting(home) as visit:
        visit.client.post("/v1/indexes", json={"name": "german", "analyzer": "german"})
        text = {"documents": [{"text": "Der Turm, im Englischen tower, steht in Paris.", "source": "turm.txt"}]}
        visit.finished(visit.client.post("/v1/indexes/german/documents", json=text).json()["id"])
        with opened(browser, visit.address, "/search?index=german&index=places&q=tower+Paris") as page:
            expect(page.locator(".hit .collection", has_text="german")).to_have_count(1)
            expect(page.locator(".hit .collection", has_text="places").first).to_be_visible()


def test_spans_are_cut_by_characters_as_the_server_counts_them(page: Page) -> None:
    text = "a😀é e\u0301 漢字 \U0001f468\u200d\U0001f469\u200d\U0001f467 end"
    cases = [[start, end] for start in range(len(text) + 1) for end in range(start, len(text) + 1)]
    cut = page.evaluate(
        """async ([text, cases]) => {
          const { slicedBy } = await import("/page/marking.js");
          return cases.map(([start, end]) => slicedBy(text, start, end));
        }""",
        [text, cases],
    )
    assert cut == [text[start:end] for start, end in cases]


def test_words_are_marked_by_the_terms_they_have(page: Page) -> None:
    found = page.evaluate(
        """async (cases) => {
          const { spansOf } = await import("/page/marking.js");
          return cases.map(([text, terms]) => spansOf(text, terms).map(([start, end]) => text.slice(start, end)));
        }""",
        [[text, terms] for text, terms, _ in MARKED],
    )
    assert found == [marks for _, _, marks in MARKED]


def test_how_passages_were_found_is_a_drawer_with_an_address(page: Page) -> None:
    search(page, SENTENCE)
    page.get_by_role("button", name="How these were found").click()
    expect(page.locator("#explain .waterfall li").first).to_contain_text("Understanding the question")
    assert page.locator("#explain .ladder .line").count() > 0
    page.reload()
    expect(page.locator("#explain .ladder")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#explain")).to_have_count(0)


def test_a_missing_document_is_explained_and_the_change_that_brings_it_is_tried(page: Page) -> None:
    search(page, "-cat tower")
    expect(page.locator(".title", has_text="cat.txt")).to_have_count(0)
    page.get_by_role("button", name="How these were found").click()
    page.get_by_label("Its name or the end of its path").fill("cat.txt")
    page.get_by_role("button", name="Why is it not here?").click()
    expect(page.locator(".verdict")).to_contain_text("It was lost at")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".title", has_text="cat.txt").first).to_be_visible()


def test_suggestions_are_chosen_by_the_keyboard_alone(page: Page) -> None:
    box = page.locator("#query")
    box.press_sequentially("tow")
    options = page.locator('#suggestions [role="option"]')
    expect(options.first).to_contain_text("tower")
    expect(box).to_have_attribute("aria-expanded", "true")

    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", "suggestion-0")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_value("tow")

    box.press_sequentially("e")
    expect(options.first).to_contain_text("tower")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=tower"))
    expect(page.locator(".hit").first.locator(".title")).to_have_text("tower.txt")
    expect(options).to_have_count(0)


def test_the_page_asks_what_was_meant(page: Page) -> None:
    search(page, "towre in Paris")
    page.get_by_role("link", name="tower in Paris").click()

    expect(page.locator("#query")).to_have_value("tower in Paris")
    expect(page.locator(".meant")).to_have_count(0)
