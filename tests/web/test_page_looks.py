"""How the views look and speak: any width, either theme, another language, by keyboard and to assistive technology."""

from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import QUESTION, ask, no_wider_than_the_window, opened
from support.page_views import READY, VIEWS, address
from twofold.answer.types import Mode
from twofold.models.catalog.types import Task
from twofold.search.diagnose import STAGES
from twofold.search.suggest import Suggestion
from twofold.server.jobs.store import JobKind, State

WIDTHS = ((360, 640), (640, 400), (768, 1024), (1920, 1080), (1280, 800))
"""640 by 400 is what 1280 by 800 has at 200 %."""


LOADED = """performance.getEntriesByType("resource").filter((one) => one.name.includes("/page/"))
  .reduce((sum, one) => sum + one.decodedBodySize, 0)"""


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_has_a_barrier_scrolls_sideways_or_is_heavy(browser: Browser, visit: Visit, view: str) -> None:
    looks = {"reduced_motion": "reduce", "bypass_csp": True, "viewport": {"width": 1280, "height": 800}}
    with opened(browser, visit.address, address(visit, view), **looks) as page:
        expect(page.locator(READY[view]).first).to_be_visible()
        assert 0 < page.evaluate(LOADED) <= 130_000
        unfold(page, view)
        if view == "search":
            page.locator(".why").first.click()
            page.locator(".title").first.click()
            expect(page.locator("#source-text mark").first).to_be_visible()
        if view == "ask":
            ask(page, QUESTION)
        for width, height in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            assert no_wider_than_the_window(page), width
        assert barriers(page) == []
        page.set_viewport_size({"width": 360, "height": 640})
        assert barriers(page) == []
        page.emulate_media(color_scheme="dark")
        assert barriers(page, "color-contrast") == []  # nothing else depends on the theme


def unfold(page: Page, view: str) -> None:
    """Open what is folded away at first."""
    if view == "search":
        page.locator("#options > summary").click()
        page.locator(".expert > summary").click()
    elif view == "kept":
        page.locator(".kept > summary").click()
        expect(page.locator("#rules")).to_be_visible()
    elif view == "fields":
        page.locator(".facts-of summary").click()
        page.get_by_role("button", name="Change the fields").click()
        page.get_by_role("button", name="Add a field").click()
    elif view == "settings":
        page.get_by_role("button", name="Check everything").click()
        expect(page.locator('section[aria-labelledby="checkup"] .item').first).to_be_visible()
    elif view == "docs":
        page.locator(".try > summary").nth(3).click()


def barriers(page: Page, *rules: str) -> list[str]:
    """Return what axe finds wrong: each rule with an element that breaks it."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {node['html'][:160]} {node['any'][:1]}" for one in found for node in one["nodes"]]


MISSING = """async () => {
  const [en, de] = await Promise.all(["en", "de"].map(async (code) => (await import(`/page/${code}.js`)).default));
  const views = ["ask", "compare", "document", "experiments", "judge", "library", "search", "settings", "app", "source",
    "explain", "answers", "scores", "passages", "notes", "charts", "configuration", "format", "api", "kept",
    "fields", "speech", "recording", "parts", "calibration", "facets", "suggest", "uploads", "query_set", "measures"];
  const sources = await Promise.all(views.map(async (name) => (await fetch(`/page/${name}.js`)).text()));
  const used = sources.flatMap((text) => [...text.matchAll(/\\bt\\("([^"]+)"/g)].map((found) => found[1]));
  const holes = (text) => [...new Set(JSON.stringify(text).match(/\\{\\w+\\}/g))].sort().join();
  return [
    used.filter((key) => !(key in en)),
    Object.keys(en).filter((key) => !(key in de)),
    Object.keys(de).filter((key) => !(key in en)),
    Object.keys(en).filter((key) => holes(en[key]) !== holes(de[key])),
  ];
}"""


def test_german_is_one_file_that_says_everything(browser: Browser, visit: Visit) -> None:
    with opened(browser, visit.address, VIEWS["search"], locale="de-DE") as page:
        expect(page.locator("#status")).to_contain_text("Abschnitt")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        missing = page.evaluate(MISSING)
        assert missing == [[], [], [], []]
        page.goto(f"{visit.address}/settings")
        page.get_by_label("Sprache").select_option("en")
        expect(page.locator("h1")).to_have_text("Settings")
        page.reload()
        expect(page.locator("h1")).to_have_text("Settings")


def test_what_the_server_says_by_a_code_has_words(page: Page) -> None:
    said = page.evaluate("async () => Object.keys((await import('/page/en.js')).default)")
    codes = {
        *(f"model.for.{one}" for one in Task),
        *(f"job.{one}" for one in JobKind),
        *(f"job.state.{one}" for one in State),
        *(f"kind.{one}" for one in get_args(Mode)),
        *(f"stage.of.{one}" for one in STAGES if one),
        *(f"suggestion.{one}" for one in get_args(get_type_hints(Suggestion)["kind"])),
    }
    assert codes <= set(said)


def test_the_token_is_asked_for_kept_for_this_tab_alone_and_asked_for_again_when_it_is_revoked(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("locked")
    fill(home)
    with visiting(home) as locked:
        token = locked.token("read:notes")
        with opened(browser, locked.address, "/search?q=tower") as page:
            expect(page.locator("#token-says")).to_have_text("A token is needed.")
            page.keyboard.type("tf_wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#token-says")).to_contain_text("The token is wrong")
            page.keyboard.type(token)
            page.keyboard.press("Enter")
            expect(page.locator("#held")).to_contain_text("3 documents")
            expect(page.locator(".hit").first).to_be_visible()
            kept = page.evaluate("[Object.values(sessionStorage), localStorage.length, document.cookie]")
            assert kept == [[token], 0, ""]

            locked.tokens.revoke(token.split("_")[1])
            other = locked.token("read:notes")
            page.locator("#query").fill("cat")
            page.keyboard.press("Enter")
            expect(page.locator("#token")).to_be_visible()
            page.keyboard.type(other)
            page.keyboard.press("Enter")
            expect(page.locator(".hit .title").first).to_have_text("cat.txt")
            page.locator("#forget").click()
            expect(page.locator("#token")).to_be_visible()
            assert page.evaluate("sessionStorage.length") == 0


ENDS = """(text) => {
  const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walk.nextNode()) nodes.push(walk.currentNode);
  const at = (node, from) => {
    const one = document.createRange();
    one.setStart(node, from);
    one.setEnd(node, from + 1);
    return one.getBoundingClientRect().left;
  };
  return [at(nodes[0], 0), at(nodes.at(-1), nodes.at(-1).length - 1)];
}"""


def test_a_text_of_hebrew_runs_from_the_right_to_its_period(browser: Browser, tmp_path: Path) -> None:
    """`shalom`, `boat` and `night`, with a period: in a line of English it would stand at the right of the words."""
    words = "\u05e9\u05dc\u05d5\u05dd \u05e1\u05d9\u05e8\u05d4 \u05dc\u05d9\u05dc\u05d4"
    fill(tmp_path, texts={"boat.txt": f"{words}."})
    with visiting(tmp_path) as visit, opened(browser, visit.address, f"/search?q={words.split(maxsplit=1)[0]}") as page:
        first, period = page.locator(".snippet").evaluate(ENDS)
        assert period < first
        page.locator(".hit .title").click()
        first, period = page.locator("#span").evaluate(ENDS)
        assert period < first
