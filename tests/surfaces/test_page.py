"""The page of the server as people use it: in a real browser, mostly by the keyboard alone."""

import json
import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import TEXTS, Visit, fill, visiting
from support.browser import (
    HOSTILE,
    LONG,
    QUESTION,
    SENTENCE,
    ask,
    browsing,
    chosen,
    focused,
    on_screen,
    opened,
    search,
)
from support.fake_llm_server import Heard, Send, chatting, piece


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("paged")
    fill(home, texts={**TEXTS, "ferries.txt": LONG, "<b>wombat</b>.md": HOSTILE})
    with visiting(home) as one:
        assert one.client.post("/v1/indexes", json={"name": "void"}).status_code == 201
        yield one


@pytest.fixture
def page(browser: Browser, visit: Visit) -> Iterator[Page]:
    with opened(browser, visit.address) as one:
        yield one


def test_a_search_by_keyboard_opens_the_passage_with_its_words_on_screen(page: Page) -> None:
    chosen(page)
    page.keyboard.press("/")
    page.keyboard.type("night ferry Ostend")
    page.keyboard.press("Enter")
    first = page.locator(".hit").first
    expect(first.locator("mark")).to_have_text(["night", "ferry", "Ostend"])
    assert on_screen(first.locator("mark").first)

    page.keyboard.press("ArrowDown")
    assert focused(page) == "ferries.txt"
    page.keyboard.press("Enter")
    found = page.locator("#passage mark", has_text="Ostend")
    expect(found).to_be_visible()
    assert on_screen(found)

    page.keyboard.press("Escape")
    expect(page.locator("#passage")).to_be_hidden()
    assert focused(page) == "ferries.txt"


def test_a_question_is_answered_and_its_citation_opens_where_the_words_stand(page: Page) -> None:
    chosen(page)
    ask(page, QUESTION)
    expect(page.locator("#answer .prose")).to_contain_text(SENTENCE)
    page.locator(f'.chip[title="{SENTENCE}"]').focus()
    page.keyboard.press("Enter")

    cited = page.locator("#passage mark.cited")
    expect(cited).to_have_text(SENTENCE)  # characters are counted as the server counts them, emoji and all
    assert on_screen(cited)
    assert page.locator("#passage-text").evaluate("(box) => box.scrollTop") > 1_000


def test_a_question_that_no_document_answers_is_said_to_be_so(page: Page) -> None:
    chosen(page)
    ask(page, "Who composed the opera about the barber of Seville?")
    expect(page.locator("#answer")).to_contain_text("Probably not in your documents.")
    expect(page.locator("#answer .chip")).to_have_count(0)


def test_what_documents_say_is_shown_as_text_and_never_run(page: Page) -> None:
    chosen(page)
    search(page, "wombat burrows")
    expect(page.locator(".hit").first).to_contain_text("<script>document.title = 'owned'</script>")
    expect(page.locator(".hit").first.locator(".source")).to_have_text("b>.md")
    ask(page, "How long are wombat burrows?")
    page.locator(".hit .title").first.click()
    expect(page.locator("#passage-text")).to_have_text(HOSTILE)
    assert page.locator("main script, main img, dialog script, dialog img, b").count() == 0
    assert page.title() == "twofold"


def test_the_bar_is_split_by_what_each_retriever_gave(page: Page, visit: Visit) -> None:
    chosen(page)
    search(page, "tower in Paris")
    bar = page.locator(".hit").first.locator(".score")
    asked = {"query": "tower in Paris", "mode": "hybrid", "k": 10}
    hit = visit.client.post("/v1/indexes/notes/search", json=asked).json()["hits"][0]
    parts = {one["retriever"]: one["part"] for one in hit["retrievers"]}
    share = round(100 * parts["bm25"] / sum(parts.values()))
    expect(bar).to_have_attribute("title", re.compile(f"^bm25 {share} %, vector {100 - share} %$"))
    widths = bar.locator(".bar > span").evaluate_all("(all) => all.map((one) => parseFloat(one.style.width))")
    assert sum(widths) == pytest.approx(100.0, abs=0.1)

    page.get_by_label("BM25", exact=True).check(force=True)
    expect(bar).to_have_attribute("title", "bm25 100 %")
    expect(page.locator("#legend")).not_to_contain_text("vector")


def test_the_explanation_gives_the_score_to_its_last_digit(page: Page, visit: Visit) -> None:
    chosen(page)
    search(page, "tower in Paris")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("e")
    asked = {"query": "tower in Paris", "mode": "hybrid", "k": 10}
    score = visit.client.post("/v1/indexes/notes/search", json=asked).json()["hits"][1]["score"]
    second = page.locator(".hit").nth(1)
    expect(second.locator(".tables")).to_contain_text(f"Score {json.dumps(score)}")
    expect(second.locator("caption").first).to_contain_text("By retriever")


def test_the_focus_moves_among_results_and_back_to_the_box(page: Page) -> None:
    chosen(page)
    search(page, "the")
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
    chosen(page)
    page.locator("#query").fill("tower ferry cat")
    page.locator("#filter").fill("source ==")
    page.keyboard.press("Enter")
    expect(page.locator("#filter-says")).to_contain_text("The filter wants a value")
    expect(page.locator("#filter")).to_have_attribute("aria-invalid", "true")
    page.locator("#filter").fill("source == cat.txt")
    page.keyboard.press("Enter")
    expect(page.locator(".hit .title")).to_have_text(["cat.txt"])
    expect(page.locator("#filter")).to_have_attribute("aria-invalid", "false")


def test_the_keys_are_shown_and_closed_by_the_keyboard(page: Page) -> None:
    chosen(page)
    page.locator("#query").blur()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_a_digit_opens_the_citation_of_that_number(page: Page) -> None:
    chosen(page)
    ask(page, "When was the Eiffel tower in Paris finished?")
    chip = page.locator("#answer .chip", has_text="[1]").first
    quote = chip.get_attribute("title")
    assert quote
    page.locator("#query").blur()
    page.keyboard.press("1")
    expect(page.locator("#passage mark.cited")).to_have_text(quote)


def test_an_empty_index_says_how_to_fill_it(page: Page) -> None:
    chosen(page, "void")
    expect(page.locator("#teaching")).to_contain_text("twofold sync FOLDER --index void")


def test_a_server_without_an_index_says_how_to_make_one(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with visiting(tmp_path_factory.mktemp("bare")) as bare, opened(browser, bare.address) as page:
        expect(page.locator("#teaching")).to_contain_text("twofold sync FOLDER")


def test_a_search_that_finds_nothing_says_what_to_try(page: Page) -> None:
    chosen(page)
    search_for = "+zzyzx"
    page.locator("#query").fill(search_for)
    page.keyboard.press("Enter")
    expect(page.locator("#teaching")).to_contain_text("Nothing was found")


def test_a_server_that_is_gone_is_told_in_words(page: Page) -> None:
    chosen(page)
    page.route("**/v1/**", partial(Route.abort, error_code="connectionrefused"))
    page.locator("#query").fill("tower")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")


def test_the_token_is_asked_for_and_kept_for_this_tab_alone(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("locked")
    fill(home)
    with visiting(home) as locked:
        token = locked.token("read:notes")
        with opened(browser, locked.address) as page:
            expect(page.locator("#token-says")).to_have_text("A token is needed.")
            page.keyboard.type("tf_wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#token-says")).to_contain_text("The token is wrong")
            page.keyboard.type(token)
            page.keyboard.press("Enter")
            expect(page.locator("#held")).to_contain_text("3 documents")
            kept = page.evaluate("[Object.values(sessionStorage), localStorage.length, document.cookie, location.href]")
            assert kept == [[token], 0, "", f"{locked.address}/"]
            page.locator("#forget").click()
            expect(page.locator("#token")).to_be_visible()
            assert page.evaluate("sessionStorage.length") == 0


def test_an_answer_that_a_model_writes_streams_and_can_be_stopped(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("written")
    fill(home)

    def reply(_: Heard, send: Send) -> None:
        send(piece("The Eiffel tower stands in Paris [1]. "))
        while True:
            send(piece("And "))

    with (
        chatting(reply) as address,
        visiting(home, said={"generator": f"{address}#m"}) as wordy,
        opened(browser, wordy.address) as page,
    ):
        chosen(page)
        page.locator("#query").fill("Where does the Eiffel tower stand?")
        page.keyboard.press("Shift+Enter")
        expect(page.locator("#answer .prose")).to_contain_text("The Eiffel tower stands in Paris")
        page.keyboard.press("Escape")
        expect(page.locator("#answer-body")).to_contain_text("Stopped.")
        expect(page.locator("#stop")).to_be_hidden()


def test_several_indexes_are_searched_and_asked_together(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("several")
    fill(home, "boats", texts={"ferries.txt": SENTENCE})
    fill(home, "places", texts=TEXTS)
    fill(home, "unasked", texts={"ostend.txt": f"Nobody is to see this. {SENTENCE}"})
    with visiting(home) as visit, opened(browser, visit.address) as page:
        chosen(page, "places")
        page.locator("#more summary").click()
        page.get_by_role("checkbox", name="boats").check()
        expect(page.locator("#more summary")).to_have_text("and 1 other")
        page.locator("#more summary").click()
        ask(page, QUESTION)

        expect(page.locator(".hit .collection").first).to_have_text("boats")
        found = set(page.locator(".hit .collection").all_text_contents())
        expect(page.locator("#answer-body")).to_contain_text(SENTENCE)
        page.locator("#answer .chip").first.click()
        expect(page.locator("#passage mark.cited")).to_have_text(SENTENCE)
        expect(page.locator("#passage-place")).to_contain_text("boats")
        page.keyboard.press("Escape")

        page.locator("#more summary").click()
        page.get_by_role("checkbox", name="boats").uncheck()
        page.locator("#more summary").click()
        search(page, "tower")
        expect(page.locator(".hit .collection")).to_have_count(0)

    assert found == {"boats", "places"}


def test_indexes_of_different_models_are_searched_together_all_the_same(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("mixed")
    fill(home, "places", texts=TEXTS)
    with visiting(home) as visit, opened(browser, visit.address) as page:
        visit.client.post("/v1/indexes", json={"name": "german", "analyzer": "german"})
        text = {"documents": [{"text": "Der Turm, im Englischen tower, steht in Paris.", "source": "turm.txt"}]}
        visit.finished(visit.client.post("/v1/indexes/german/documents", json=text).json()["id"])
        page.reload()
        chosen(page, "places")
        page.locator("#more summary").click()
        page.get_by_role("checkbox", name="german").check()
        search(page, "tower Paris")

        expect(page.locator(".hit .collection", has_text="german")).to_have_count(1)
        expect(page.locator(".hit .collection", has_text="places").first).to_be_visible()


def test_the_ways_of_searching_and_answering_can_be_set_on_the_page(page: Page) -> None:
    chosen(page)
    with page.expect_request("**/explain") as plain:
        search(page, "tower")
    page.locator("#tuning summary").click()
    for label, value in (("Neighbors", "2"), ("Weight of vectors", "0.5"), ("Passages to rerank", "7")):
        page.get_by_label(label).fill(value)
    page.get_by_label("Rerank", exact=True).uncheck()
    page.get_by_label("Sentences without support").select_option("refuse")
    with page.expect_request("**/ask") as tuned:
        ask(page, QUESTION)

    said = tuned.value.post_data_json or {}
    assert "settings" not in (plain.value.post_data_json or {})
    assert said["rerank"] is False
    assert said["settings"] == {
        "search.context_window": 2,
        "fusion.vector_weight": 0.5,
        "rerank.candidates": 7,
        "answer.unsupported": "refuse",
    }
    expect(page.locator("#answer-body")).to_contain_text(SENTENCE)


def test_a_weight_that_is_none_is_told_by_the_browser(page: Page) -> None:
    chosen(page)
    page.locator("#tuning summary").click()
    page.get_by_label("Weight of vectors").fill("7")
    page.locator("#query").fill("tower")
    page.keyboard.press("Enter")

    assert page.locator("#asking").evaluate("(form) => !form.checkValidity()")
    expect(page.locator(".hit")).to_have_count(0)
