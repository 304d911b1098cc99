"""The view Ask: a conversation with citations that open, kept by the server and found again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import HOSTILE, QUESTION, SENTENCE, ask, focused, on_screen, opened
from support.fake_llm_server import Heard, Send, chatting, piece
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.certainty import READER
from twofold.domain.ports import Scale
from twofold.plugins import Plugins


@pytest.fixture
def asking(page: Page, visit: Visit) -> Page:
    """Give the view Ask, without a conversation."""
    page.goto(f"{visit.address}/ask?index=notes")
    expect(page.locator("#question")).to_be_visible()
    return page


def test_a_question_is_answered_and_its_citation_opens_where_the_words_stand(asking: Page) -> None:
    asking.keyboard.press("/")
    turn = ask(asking, QUESTION)
    expect(turn.locator(".prose")).to_contain_text(SENTENCE)
    turn.locator(f'.chip[title="{SENTENCE}"]').focus()
    asking.keyboard.press("Enter")

    cited = asking.locator("#source-text mark.cited")
    expect(cited).to_have_text(SENTENCE)  # characters are counted as the server counts them, emoji and all
    assert on_screen(cited)
    assert asking.locator("#source-text").evaluate("(box) => box.scrollTop") > 1_000
    expect(turn.locator(".prose")).to_be_visible()  # beside the answer, not over it
    asking.reload()
    expect(asking.locator("#source-text mark.cited")).to_have_text(SENTENCE)
    expect(asking.locator(".turn .prose")).to_contain_text(SENTENCE)
    asking.keyboard.press("Escape")
    expect(asking.locator("#source")).to_have_count(0)


def test_a_citation_of_sentences_that_follow_each_other_marks_them_all(asking: Page) -> None:
    """The server may cite a passage of the answer by pieces: `The night ferry`, and what follows up to the period."""
    after = SENTENCE.index(" to Ostend")

    def in_pieces(route: Route) -> None:
        blocks = route.fetch().text().split("\n\n")
        done = next(at for at, one in enumerate(blocks) if one.startswith("event: done"))
        event = json.loads(blocks[done].partition("data: ")[2])
        answer = event["answer"]
        whole = next(one for one in answer["citations"] if one["quote"] == SENTENCE)
        first = {**whole, "end": whole["start"] + after, "quote": SENTENCE[:after]}
        second = {**whole, "start": whole["start"] + after + 1, "quote": SENTENCE[after + 1 :]}
        answer["citations"] = [first, second]
        answer["sentences"] = [{**one, "citations": [0, 1]} for one in answer["sentences"]]
        blocks[done] = f"event: done\ndata: {json.dumps(event)}"
        route.fulfill(body="\n\n".join(blocks), content_type="text/event-stream")

    asking.route("**/ask", in_pieces)
    turn = ask(asking, QUESTION)
    turn.locator(f'.chip[title="{SENTENCE}"]').first.click()
    expect(asking.locator("#source-text mark.cited")).to_have_text(SENTENCE)


def test_conversations_can_be_opened_next_to_a_source(asking: Page) -> None:
    turn = ask(asking, QUESTION)
    expect(asking.locator(".history ul")).to_be_visible()
    turn.locator(".prose a.chip").first.click()
    expect(asking.locator("#source-text")).to_be_visible()
    expect(asking.locator(".history ul")).to_be_hidden()  # there is little room
    asking.locator(".history > summary").click()
    expect(asking.locator(".history li.current")).to_be_visible()


def test_a_conversation_goes_on_and_is_kept_renamed_found_and_deleted(asking: Page) -> None:
    ask(asking, "When was the Eiffel tower in Paris finished?")
    expect(asking).to_have_url(re.compile(r"c=[0-9a-f]{16}"))
    with asking.expect_request("**/ask") as asked:
        ask(asking, "And where does it stand?")
    assert [turn["role"] for turn in (asked.value.post_data_json or {})["history"]] == ["user", "assistant"]

    line = asking.locator(".history li.current")
    expect(line).to_contain_text("When was the Eiffel tower")
    line.get_by_role("button", name="Rename").click()
    asking.keyboard.type("The tower")
    asking.keyboard.press("Enter")
    expect(line.locator("a")).to_have_text("The tower")
    asking.reload()
    expect(asking.locator(".turn")).to_have_count(2)
    expect(asking.locator(".history li.current a")).to_have_text("The tower")

    asking.get_by_placeholder("Search conversations").fill("where does it")
    expect(asking.locator(".history li")).to_have_count(1)
    asking.get_by_placeholder("Search conversations").fill("zeppelin")
    expect(asking.locator(".history li")).to_have_count(0)
    asking.get_by_placeholder("Search conversations").fill("")
    asking.locator(".history li.current").get_by_role("button", name="Delete").click()
    expect(asking.locator(".turn")).to_have_count(0)
    expect(asking.locator(".history a", has_text="The tower")).to_have_count(0)


def test_a_question_asked_while_its_conversation_is_fetched_comes_after_what_was_asked_before(asking: Page) -> None:
    ask(asking, "Where does the Eiffel tower stand?")
    title = asking.locator(".history li.current a").text_content() or ""
    held: list[Route] = []

    def keep(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    asking.route("**/v1/conversations/*", keep)
    asking.reload()
    with asking.expect_request("**/ask") as asked:
        asking.locator("#question").fill("And when was it finished?")
        asking.keyboard.press("Enter")
        expect(asking.locator("#question")).to_have_value("And when was it finished?")
        held[0].continue_()
    assert len((asked.value.post_data_json or {})["history"]) == 2
    questions = ["Where does the Eiffel tower stand?", "And when was it finished?"]
    with asking.expect_response(lambda said: "/conversations/" in said.url and said.request.method == "PUT"):
        expect(asking.locator(".turn h2")).to_have_text(questions)
    asking.reload()
    expect(asking.locator(".turn h2")).to_have_text(questions)
    expect(asking.locator(".history li.current a")).to_have_text(title)


def test_a_conversation_is_kept_without_the_texts_that_its_documents_have(asking: Page) -> None:
    with asking.expect_request(lambda one: one.method == "PUT" and "/conversations/" in one.url) as kept:
        turn = ask(asking, QUESTION)
    (sent,) = (kept.value.post_data_json or {})["turns"]
    assert sent["answer"]["sources"]
    assert all(len(one["text"]) <= 300 for one in sent["answer"]["sources"])
    chips = turn.locator(".prose a.chip").evaluate_all("(all) => all.map((one) => one.href)")
    asking.reload()
    expect(asking.locator(".turn .prose")).to_contain_text(SENTENCE)
    assert asking.locator(".turn .prose a.chip").evaluate_all("(all) => all.map((one) => one.href)") == chips


def test_an_answer_that_could_not_be_kept_is_kept_when_the_server_is_back(asking: Page) -> None:
    lost: list[Route] = []

    def lose(route: Route) -> None:
        lost.append(route)
        if len(lost) == 1:
            route.abort("connectionfailed")
        else:
            route.fallback()

    asking.route(lambda url: "/v1/conversations/" in url, lose)
    ask(asking, "Where does the Eiffel tower stand?")  # it waits until the list has the conversation
    assert [route.request.method for route in lost[:2]] == ["PUT", "PUT"]
    asking.reload()
    expect(asking.locator(".turn .prose")).to_contain_text("Paris")


def test_a_question_that_no_document_answers_is_said_to_be_so_beside_the_nearest(asking: Page) -> None:
    turn = ask(asking, "Who composed the opera about the barber of Seville?")
    expect(turn).to_contain_text("Probably not in your documents.")
    expect(turn.locator(".chip")).to_have_count(0)
    assert turn.locator(".nearest li").count() > 0


def test_how_an_answers_passages_were_found_is_a_drawer_with_an_address(asking: Page) -> None:
    turn = ask(asking, QUESTION)
    turn.get_by_role("button", name="How these were found").click()
    expect(asking.locator("#explain .waterfall li").first).to_contain_text("Understanding the question")
    expect(turn.locator(".prose")).to_be_visible()  # beside the answer
    asking.reload()
    expect(asking.locator("#explain .ladder")).to_be_visible()

    asking.get_by_label("Its name or the end of its path").fill("cat.txt")
    asking.get_by_role("button", name="Why is it not here?").click()
    expect(asking.locator("#explain .verdict")).to_be_visible()
    asking.keyboard.press("Escape")
    expect(asking.locator("#explain")).to_have_count(0)
    expect(turn.locator(".prose")).to_be_visible()


def test_a_digit_opens_the_citation_of_that_number(asking: Page) -> None:
    turn = ask(asking, "When was the Eiffel tower in Paris finished?")
    quote = turn.locator(".prose a.chip", has_text="1").first.get_attribute("title")
    assert quote
    asking.locator("#question").blur()
    asking.keyboard.press("1")
    expect(asking.locator("#source-text mark.cited")).to_have_text(quote)


def test_a_good_answer_is_a_judgement_of_what_it_cites(asking: Page, visit: Visit) -> None:
    question = "Which tower was finished in 1889?"
    turn = ask(asking, question)
    turn.get_by_role("button", name="Good answer").click()
    expect(asking.locator(".notice")).to_have_text("Thank you, that is kept.")
    given = visit.client.get("/v1/indexes/notes/judgements").json()["judgements"]
    cited = turn.locator(".prose a.chip").evaluate_all("(all) => new Set(all.map((one) => one.textContent)).size")
    judged = {(one["source"], one["grade"]) for one in given if one["query"] == question}
    assert ("tower.txt", 2) in judged
    assert len(judged) == cited


def test_an_answer_is_exported_with_its_sources(asking: Page, tmp_path: Path) -> None:
    ask(asking, "When was the Eiffel tower in Paris finished?")
    asking.get_by_text("Export").click()
    with asking.expect_download() as kept:
        asking.get_by_role("button", name="Markdown").click()
    kept.value.save_as(tmp_path / "talk.md")
    text = (tmp_path / "talk.md").read_text()
    assert text.startswith("# When was the Eiffel tower in Paris finished?")
    assert re.search(r"^\[1\] tower\.txt$", text, re.MULTILINE)


def test_what_a_document_says_in_an_answer_is_text(asking: Page) -> None:
    ask(asking, "How long are wombat burrows?")
    asking.locator(".turn a").first.click()
    expect(asking.locator("#source-text")).to_contain_text(HOSTILE[:40])
    assert asking.locator("main script, main img, aside script, aside img").count() == 0


def test_a_short_question_by_enter_and_a_line_by_shift_enter(asking: Page) -> None:
    asking.locator("#question").focus()
    asking.keyboard.type("one")
    asking.keyboard.press("Shift+Enter")
    asking.keyboard.type("two")
    expect(asking.locator("#question")).to_have_value("one\ntwo")
    asking.locator("#question").fill("")
    asking.keyboard.press("Enter")
    assert focused(asking) == "question"
    expect(asking.locator(".turn")).to_have_count(0)


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("wordy")
    fill(home)
    over = Event()

    def reply(heard: Heard, send: Send) -> None:
        send(piece('The Eiffel tower <img src=x onerror="document.title=1"> stands in Paris [1]. '))
        if "for ever" in heard.prompt:  # an answer ends at its most tokens, so it must wait rather than write on
            send(piece("And and and "))
            over.wait()
        send(b"data: [DONE]\n\n")

    with chatting(reply) as address, visiting(home, said={"generator": f"{address}#m"}) as one:
        try:
            yield one
        finally:
            over.set()


def test_an_answer_that_a_model_writes_streams_and_can_be_stopped(browser: Browser, wordy: Visit) -> None:
    with opened(browser, wordy.address, "/ask") as page:
        page.locator("#question").fill("Where does the Eiffel tower stand, for ever?")
        page.keyboard.press("Enter")
        expect(page.locator(".turn .prose")).to_contain_text("The Eiffel tower")
        page.keyboard.press("Escape")
        expect(page.locator(".turn .answer")).to_contain_text("Stopped.")
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()
        expect(page.locator(".model")).to_contain_text("m")


def test_what_a_model_writes_is_text(browser: Browser, wordy: Visit) -> None:
    with opened(browser, wordy.address, "/ask") as page:
        turn = ask(page, "Where does the Eiffel tower stand?")
        expect(turn.locator(".prose")).to_contain_text("stands in Paris")
        assert page.locator("main img").count() == 0
        page.get_by_label("Answered by").select_option("extracts")
        ask(page, "When was it finished?")
        expect(page.locator(".turn").nth(1)).to_contain_text("word for word")


STABLE = "The stable was built by Ada.\n\nBread is baked.\n\nCats sleep here.\n\nBirds sing."


def test_how_likely_an_answer_is_correct_is_said_in_words_kept_and_exported(browser: Browser, tmp_path: Path) -> None:
    """A logit of x above three of 0: -1.56 + .35 · x + .34 · x is 2.58, .51, -.87 for 6, 3, 1; so .93, .62, .30."""
    fill(tmp_path, texts={"stable.txt": STABLE})
    reads = {"Ada": 6.0}
    plugins = Plugins(rerankers={"own": Dictated(reads, Scale.LOGIT, name=READER)})
    served = visiting(tmp_path, said={"rerank.model": "own"}, plugins=plugins)
    with served as one, opened(browser, one.address, "/ask") as page:
        first = ask(page, "Who built the stable?").locator(".kind")
        expect(first.get_by_text("93%")).to_be_hidden()
        first.get_by_text("Details").click()
        expect(first).to_contain_text("Chance that this answer is correct: 93%.")
        reads["Ada"] = 3.0
        expect(ask(page, "Who made the stable then?").locator(".kind")).to_contain_text("Check it")
        reads["Ada"] = 1.0
        expect(ask(page, "By whom was the stable built?").locator(".kind")).to_contain_text("Doubtful")

        page.reload()
        expect(page.locator(".turn .sure")).to_have_text(["Likely right", "Check it", "Doubtful"])
        page.get_by_text("Export").click()
        with page.expect_download() as kept:
            page.get_by_role("button", name="Markdown").click()
        assert "*Check it. Chance that this answer is correct: 62%.*" in kept.value.path().read_text()
        page.get_by_text("Export").click()
        with page.expect_download() as kept:
            page.get_by_role("button", name="JSON").click()
        stored = json.loads(kept.value.path().read_text())
        assert [turn["answer"]["correct"] for turn in stored["turns"]] == pytest.approx(
            [0.9296, 0.6248, 0.2953], abs=1e-3
        )
        page.evaluate("localStorage.setItem('twofold.language', 'de')")
        page.reload()
        expect(page.locator(".turn .sure")).to_have_text(["Wohl richtig", "Prüfen Sie es", "Zweifelhaft"])
        page.locator(".kind summary").first.click()
        expect(page.locator(".kind").first).to_contain_text("93\xa0%")


def test_nothing_is_said_of_an_answer_whose_chance_nobody_knows(asking: Page) -> None:
    turn = ask(asking, QUESTION)
    expect(turn.locator(".kind")).to_have_text("Sentences of your documents, word for word.")


TABLE = """# Sales

| Year | Net sales | Profit |
|---|---|---|
| 2021 | 310 million | 12 million |
| 2022 | 355 million | 14 million |
"""


def test_a_row_that_answers_is_a_table_under_its_header(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "sales.md").write_text(TABLE)
    with Index("notes", overrides={"embedder": "hashing", "offline": True, "home": str(tmp_path)}) as index:
        index.add_file(tmp_path / "sales.md")
    said = {"index": "notes", "answer.min_answerability": 0.0}
    with visiting(tmp_path, said=said) as one, opened(browser, one.address, "/ask") as page:
        turn = ask(page, "How much were net sales in 2022?")
        expect(turn.locator(".prose table th")).to_have_text(["Year", "Net sales", "Profit"])
        expect(turn.locator(".prose table td")).to_contain_text(["2022", "355 million", "14 million"])
        expect(turn.locator(".prose a.chip").first).to_be_visible()
        expect(turn.locator(".prose")).not_to_contain_text("|")


def test_effort_is_chosen_in_words_sent_and_kept_in_the_address(browser: Browser, tmp_path: Path) -> None:
    """The first search gives the film alone, k being 1; the second one who directed it, and both are named below."""
    film, director = "Maximum Overdrive was shot in Leland in 1986.", "Maximum Overdrive was directed by Stephen King."
    fill(tmp_path, texts={"film.txt": film, "director.txt": director})
    reads = Dictated({"Leland": 8.0, "Stephen": 5.0}, Scale.LOGIT)
    said = {"rerank.model": "own", "search.k": 1, "answer.min_answerability": 0.0}
    served = visiting(tmp_path, said=said, plugins=Plugins(rerankers={"own": reads}))
    with served as one, opened(browser, one.address, "/ask") as page:
        choice = page.get_by_label("Effort")
        expect(choice.locator("option")).to_have_count(3)
        choice.select_option("medium")
        expect(page).to_have_url(re.compile("effort=medium"))
        with page.expect_request("**/ask") as asked:
            turn = ask(page, "Who directed the film that was shot in Leland in 1986?")
        assert (asked.value.post_data_json or {})["effort"] == "medium"
        expect(turn).to_contain_text("Stephen King")
        expect(turn.locator(".further")).to_have_text("Searched again: Maximum Overdrive Who directed the film that")

        page.reload()
        expect(page.get_by_label("Effort")).to_have_value("medium")
        expect(page.locator(".turn .further")).to_have_count(1)
