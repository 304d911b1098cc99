"""What a person manages on the page: fields of documents, who answers, synonyms, pins, snapshots, health, models."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.api_client import Visit, fill, visiting
from support.browser import ask, opened, search
from support.fake_llm_server import Heard, Send, chatting, finished, piece

CATS = {
    "cats.txt": "The cat sat on the mat and purred. Cats sleep all day.",
    "automobile.txt": "An automobile has four wheels. It needs fuel.",
    "boat.txt": "A boat floats. The cat does not like the boat.",
}


@pytest.fixture
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("managed")
    fill(home, texts=CATS)
    with visiting(home, said={"log": {"queries": True}}) as one:
        yield one


def document_of(visit: Visit, name: str) -> str:
    found = visit.client.get(f"/v1/indexes/notes/documents?q={name}").json()["documents"]
    return str(found[0]["id"])


def test_fields_of_a_document_are_changed_by_keyboard_and_filtered_by(browser: Browser, managed: Visit) -> None:
    path = f"/document?index=notes&doc={document_of(managed, 'cats')}"
    with opened(browser, managed.address, path) as page:
        page.locator(".facts-of summary").press("Enter")
        page.get_by_role("button", name="Change the fields").press("Enter")
        page.get_by_role("button", name="Add a field").press("Enter")
        page.get_by_label("Field", exact=True).last.fill("year")
        page.get_by_label("Value of").last.fill("2024")
        page.get_by_role("button", name="Add a field").click()
        page.get_by_label("Field", exact=True).last.fill("author")
        page.get_by_label("Value of").last.fill("<b>Ada</b>")
        page.get_by_label("Value of").last.press("Enter")
        expect(page.locator(".facts")).to_contain_text("<b>Ada</b>")
        page.reload()
        page.locator(".facts-of summary").click()
        expect(page.locator(".facts")).to_contain_text("2024")
        kept = managed.client.get(f"/v1/indexes/notes/documents/{document_of(managed, 'cats')}").json()["metadata"]
        assert (kept["year"], kept["author"]) == (2024, "<b>Ada</b>")

        page.get_by_role("button", name="Change the fields").click()
        page.get_by_role("button", name=re.compile("Delete .author")).click()
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".facts")).not_to_contain_text("Ada")
        page.goto(f"{managed.address}/search?index=notes&q=cat&filter=year+%3E%3D+2024")
        expect(page.locator(".hit .title")).to_have_text(["cats.txt"])


def test_a_field_stays_of_its_kind(page: Page) -> None:
    found = page.evaluate(
        """async () => {
          const { changesOf, valueOf } = await import("/page/fields.js");
          const rows = [["year", "2025", 2024], ["tags", "a, b,", ["a"]], ["zip", "01234", "01233"], ["same", "x", "x"],
            ["", "lost", undefined]].map(([name, value, was]) => ({ name, value, was }));
          return [changesOf(rows, { year: 2024, tags: ["a"], zip: "01233", same: "x", gone: 1 }),
            [["true"], ["-1.5"], ["1e9"], ["12", "text"]].map(([text, was]) => valueOf(text, was))];
        }"""
    )
    assert found == [{"year": 2025, "tags": ["a", "b"], "zip": "01234", "gone": ""}, [True, -1.5, "1e9", "12"]]


def test_synonyms_find_other_words_and_a_pinned_result_comes_first(browser: Browser, managed: Visit) -> None:
    with opened(browser, managed.address, "/library?index=notes") as page:
        page.locator(".kept > summary").click()
        page.get_by_label("One rule a line").fill("car => automobile")
        page.locator(".kept form").first.get_by_role("button", name="Save").click()
        expect(page.locator(".notice")).to_have_text("Saved.")
        expect(page.locator(".kept")).to_contain_text("Open the reasons of a result in Search to pin it.")

        page.goto(f"{managed.address}/search?index=notes&q=car&mode=bm25")
        expect(page.locator(".hit .title")).to_have_text(["automobile.txt"])

        page.goto(f"{managed.address}/search?index=notes&q=the+cat&mode=bm25")
        expect(page.locator(".hit .title").first).to_have_text("cats.txt")
        page.locator(".hit", has_text="boat.txt").locator(".why").click()
        page.get_by_role("button", name="Show first for this question").click()
        expect(page.locator(".hit .title").first).to_have_text("boat.txt")
        page.locator(".hit", has_text="cats.txt").locator(".why").click()
        page.locator(".hit", has_text="cats.txt").get_by_role("button", name="Never for this question").press("Enter")
        expect(page.locator(".hit .title")).to_have_text(["boat.txt"])

        page.goto(f"{managed.address}/library?index=notes")
        page.locator(".kept > summary").click()
        expect(page.locator(".kept .job")).to_contain_text("boat.txt, \u2212 cats.txt")
        page.locator(".kept").get_by_role("button", name="Forget").click()
        expect(page.locator(".kept .job")).to_have_count(0)
        page.goto(f"{managed.address}/search?index=notes&q=the+cat&mode=bm25")
        expect(page.locator(".hit .title").first).to_have_text("cats.txt")


def test_an_index_is_searched_as_it_was_and_compared_with_today(browser: Browser, managed: Visit) -> None:
    with opened(browser, managed.address, "/library?index=notes") as page:
        page.locator(".kept > summary").click()
        page.get_by_label("Name", exact=True).fill("monday")
        page.keyboard.press("Enter")
        expect(page.locator(".kept .job strong")).to_have_text("monday")
        page.get_by_role("button", name=re.compile("Delete .boat.txt")).click()
        expect(page.locator("#documents-title")).to_have_text("2 documents")
        page.get_by_role("button", name="What changed since").click()
        expect(page.locator(".kept .plan")).to_contain_text("1 taken out")
        expect(page.locator(".kept .plan li")).to_have_text(["\u2212 boat.txt"])

        page.get_by_role("link", name="Search it").click()
        search(page, "boat floats")
        expect(page.locator(".hit .title").first).to_have_text("boat.txt")
        page.locator(".title").first.click()
        expect(page.locator("#source-text mark").first).to_be_visible()
        expect(page).to_have_url(re.compile("as_of=monday"))
        page.reload()
        expect(page.locator("#source-text mark").first).to_be_visible()
        turn = page.get_by_role("link", name="Ask", exact=True)
        turn.click()
        ask(page, "What does the boat do?")
        expect(page.locator(".turn").first).to_contain_text("boat.txt")
        page.get_by_role("link", name="Back to today").click()
        expect(page.locator("main > .note")).to_have_count(0)
        page.goto(f"{managed.address}/search?index=notes&q=boat+floats&mode=bm25")
        expect(page.get_by_text("Nothing was found")).to_be_visible()


def test_a_search_weighs_titles_and_age_and_scores_by_a_formula(page: Page) -> None:
    page.locator("#options > summary").click()  # before something is typed: suggestions would lie over it
    page.get_by_label("Weight of titles").fill("3")
    page.get_by_label("Newer first").select_option("180d")
    page.locator(".expert > summary").click()
    page.get_by_label("Score by a formula").fill("2 * score")
    page.locator("#query").fill("tower in Paris")
    with page.expect_request("**/explain") as asked:
        page.locator("#query").press("Enter")
    said = asked.value.post_data_json or {}
    assert (said["boosts"], said["recency"], said["score"]) == ({"title": 3}, "modified:180d", "2 * score")
    expect(page.locator(".hit").first).to_be_visible()
    page.reload()
    expect(page.get_by_label("Weight of titles")).to_have_value("3")
    expect(page.locator(".expert")).to_have_attribute("open", "")


def test_who_answers_is_chosen_and_stands_in_the_address(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("models")
    fill(home)

    def small(_: Heard, send: Send) -> None:
        send(piece("The small one says Paris [1]."))
        send(finished())

    def large(_: Heard, send: Send) -> None:
        send(piece("The large one says Paris [1]."))
        send(finished())

    with (
        chatting(small) as one,
        chatting(large) as two,
        visiting(home, said={"generator": f"{one}#small"}, models=(f"{two}#large",)) as visit,
        opened(browser, visit.address, "/ask") as page,
    ):
        expect(page.get_by_label("Answered by").locator("option")).to_have_text(
            ["small", "large", "Only sentences of the documents"]
        )
        page.get_by_label("Answered by").select_option("large")
        expect(ask(page, "Where does the Eiffel tower stand?").locator(".prose")).to_contain_text("The large one")
        page.reload()
        expect(page.get_by_label("Answered by")).to_have_value("large")
        expect(page.locator(".turn")).to_have_count(1)
        page.get_by_label("Answered by").select_option("")
        expect(ask(page, "And where is Paris?").locator(".prose")).to_contain_text("The small one")
        page.goto(f"{visit.address}/ask?by=extracts")
        expect(ask(page, "When was the tower finished?")).to_contain_text("word for word")


def test_health_models_and_the_log_stand_in_the_settings(browser: Browser, managed: Visit) -> None:
    managed.client.post("/v1/indexes/notes/search", json={"query": "+zeppelin <b>lost</b>"})
    with opened(browser, managed.address, "/settings?index=notes") as page:
        page.get_by_role("button", name="Check everything").press("Enter")
        checkup = page.locator('section[aria-labelledby="checkup"]')
        expect(checkup.locator(".item", has_text="index notes")).to_contain_text("3 documents, every checksum is right")
        log = page.locator('section[aria-labelledby="log"]')
        expect(log.locator("tbody tr").first).to_contain_text("nothing found")
        log.get_by_role("link", name="+zeppelin <b>lost</b>").click()
        expect(page.locator("#query")).to_have_value("+zeppelin <b>lost</b>")
        page.go_back()
        models = page.locator('section[aria-labelledby="models"]')
        expect(models).to_contain_text("This server may not fetch models.")
        expect(models.get_by_role("button", name="Download").first).to_be_disabled()


def test_a_model_is_fetched_while_one_watches(browser: Browser, managed: Visit) -> None:
    model = {"name": "tiny", "task": "embed", "licence": "MIT", "bytes": 2_000_000, "present": False}
    events = [
        {"type": "progress", "step": "download", "done": 1_000_000, "total": 2_000_000},
        {"type": "error", "problem": {"detail": "The disk is full.", "hint": "Make room.", "status": 507}},
    ]

    def stream(route: Route) -> None:
        body = "".join(f"data: {json.dumps(one)}\n\n" for one in events)
        route.fulfill(body=body, content_type="text/event-stream")

    with opened(browser, managed.address, "/ask") as page:
        page.route(
            "**/v1/model-files",
            lambda route: route.fulfill(
                body=json.dumps({"models": [model], "offline": False}), content_type="application/json"
            ),
        )
        page.route("**/v1/model-files/tiny", stream)
        page.get_by_role("link", name="Settings").click()
        page.get_by_role("button", name="Download").click()
        expect(page.locator(".notice")).to_have_text("The disk is full. Make room.")
        events.pop()
        page.get_by_role("button", name="Download").click()
        expect(page.locator(".model-list")).to_contain_text("is here")


def test_a_token_is_made_for_some_principals(browser: Browser, managed: Visit) -> None:
    with opened(browser, managed.address, "/settings") as page:
        page.get_by_label("Whose").fill("ann")
        page.get_by_label("Only documents of").fill("user:ann, group:legal")
        page.get_by_role("button", name="Make a token").click()
        expect(page.locator(".secret")).to_contain_text("tf_")
        expect(page.locator(".token-list", has_text="ann")).to_contain_text("reads group:legal, user:ann")


def test_routes_are_tried_where_they_are_described(browser: Browser, managed: Visit) -> None:
    with opened(browser, managed.address, "/docs") as page:
        article = page.locator("article", has=page.get_by_text("/v1/indexes/{index}/search", exact=True))
        article.locator(".try > summary").press("Enter")
        expect(article.get_by_label("index")).to_have_value("notes")
        article.get_by_label("Body").fill('{"query": "<img src=x onerror=alert(1)> cat"}')
        article.get_by_role("button", name="Send").press("Enter")
        expect(article.get_by_role("status")).to_contain_text("200 OK")
        expect(article.locator("pre").first).to_contain_text("curl -X POST")
        expect(article.locator("pre").nth(1)).to_contain_text('"source": "cats.txt"')
        assert page.locator("img").count() == 0
        listed = page.locator("article", has=page.locator("h2", has_text="GET/v1/indexes/{index}/documents needs"))
        listed.locator(".try > summary").click()
        listed.get_by_label("limit").fill("0")
        listed.get_by_role("button", name="Send").click()
        expect(listed.get_by_role("status")).to_contain_text("422")


def test_questions_to_judge_are_made_from_the_documents(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("birds")
    places = {"heron": "lake", "stork": "roof", "swift": "tower", "wren": "hedge", "owl": "barn"}
    birds = " ".join(f"The {bird} builds its nest in spring near the {place}." for bird, place in places.items())
    fill(home, texts={"spring.txt": birds, "summer.txt": birds.replace("spring", "summer")})
    with visiting(home) as visit, opened(browser, visit.address, "/judge?index=notes") as page:
        page.get_by_role("button", name="From the documents").press("Enter")
        expect(page.locator(".question-list li").first).to_contain_text("nest")
        expect(page.locator(".grades")).to_be_visible()


def test_questions_that_are_added_while_judgements_are_on_their_way_stay(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("slow")
    fill(home, texts={"a.txt": "The heron builds its nest in spring near the lake. It eats fish."})
    with visiting(home) as visit, opened(browser, visit.address, "/settings") as page:
        held: list[Route] = []
        page.route("**/judgements", lambda route: held.append(route))  # noqa: PLW0108  # playwright asks for a function
        page.goto(f"{visit.address}/judge?index=notes")
        page.locator("#new-question").fill("where do herons nest")
        page.keyboard.press("Enter")
        expect(page.locator(".question-list li").first).to_contain_text("herons nest")
        with page.expect_response("**/judgements"):
            held.pop().continue_()
        expect(page.locator(".grades")).to_be_visible()
        expect(page.locator(".question-list li").first).to_contain_text("herons nest")


def test_nothing_is_judged_before_it_is_known_what_was_judged(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("late")
    fill(home, texts={"a.txt": "The heron builds its nest in spring near the lake. It eats fish."})
    with visiting(home) as visit, opened(browser, visit.address, "/settings") as page:
        held: list[Route] = []
        asked: list[str] = []
        page.route("**/judgements", lambda route: held.append(route) if not held else route.continue_())
        page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
        page.goto(f"{visit.address}/judge?index=notes")
        page.locator("#new-question").fill("where do herons nest")
        page.keyboard.press("Enter")
        expect(page.locator(".question-list li").first).to_contain_text("herons nest")
        assert "judgements" in asked
        assert "search" not in asked
        held[0].continue_()
        page.locator(".grades button").last.click()
        expect(page.locator(".meter")).to_contain_text("1 of 1 judged")
        assert "search" in asked


def test_experiments_count_what_was_judged_since(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("since")
    fill(home, texts={"a.txt": "The heron builds its nest in spring near the lake. It eats fish."})
    with visiting(home) as visit, opened(browser, visit.address, "/experiments?index=notes") as page:
        expect(page.locator(".experiments-view .lesson")).to_be_visible()
        page.locator(".experiments-view").get_by_role("link").first.click()
        page.locator("#new-question").fill("where do herons nest")
        page.keyboard.press("Enter")
        page.locator(".grades button").last.click()
        page.get_by_role("link", name="Measure").click()
        expect(page.get_by_role("button", name="Measure")).to_be_enabled()


def test_chances_are_held_against_what_was_found(page: Page) -> None:
    # Two of (.15, not found), two of (.95, one found): |.15 - 0| / 2 + |.95 - .5| / 2 = .3. The surest first: of the
    # first one found, of the first two one wrong, of three two, of four three.
    found = page.evaluate(
        """async () => {
          const { calibrationError, pointsOf, reliability, riskCoverage } = await import("/page/calibration.js");
          const points = [[0.15, false], [0.15, false], [0.96, true], [0.94, false]]
            .map(([chance, found]) => ({ chance, found }));
          const results = [{ p_answerable: 0.5, hits: [{ source: "a" }] }, { p_answerable: null, hits: [] }];
          return [calibrationError(points), reliability(points),
            riskCoverage(points).map((one) => [one.coverage, one.risk]),
            pointsOf(["q", "r"], results, new Map([["q", new Set(["a"])], ["r", new Set()]]))];
        }"""
    )
    assert found == [
        pytest.approx(0.3),
        [
            {"chance": pytest.approx(0.15), "found": 0, "count": 2},
            {"chance": pytest.approx(0.95), "found": 0.5, "count": 2},
        ],
        [[0.25, 0], [0.5, 0.5], [0.75, pytest.approx(2 / 3)], [1, 0.75]],
        [{"question": "q", "chance": 0.5, "found": True}],
    ]


def test_two_tabs_see_what_the_other_did_and_lose_nothing_of_a_conversation(browser: Browser, managed: Visit) -> None:
    with opened(browser, managed.address, "/ask?index=notes") as one:
        ask(one, "Where did the cat sit?")
        expect(one.locator(".history li.current")).to_be_visible()
        two = one.context.new_page()
        two.goto(one.url)
        expect(two.locator(".turn")).to_have_count(1)
        ask(one, "What does an automobile need?")
        expect(two.locator(".turn")).to_have_count(2)
        ask(two, "What floats?")
        expect(one.locator(".turn")).to_have_count(3)
        two.reload()
        expect(two.locator(".turn h2")).to_have_text(
            ["Where did the cat sit?", "What does an automobile need?", "What floats?"]
        )

        one.get_by_role("link", name="Library").click()
        two.get_by_role("link", name="Library").click()
        one.get_by_role("button", name=re.compile("Delete .boat.txt")).click()
        expect(two.locator("#documents-title")).to_have_text("2 documents")
        expect(two.locator("#held")).to_contain_text("2 documents")
        one.locator(".manage > summary").click()
        one.get_by_label("New index").fill("second")
        one.keyboard.press("Enter")
        two.locator("#picker summary").click()
        expect(two.get_by_label("second")).to_be_visible()
        two.close()
