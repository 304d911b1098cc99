"""Marks of Markdown on the page: drawn in answers and hits, as they are written where a citation leads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import EVIL, ask, no_wider_than_the_window, opened, search

QUESTION = "How fast does the kettle boil one litre?"
WRITTEN = "The `kettle --fast` boils **one litre** in *two* minutes, see [the manual](manual.md), not 2 * 3 * 4."
SHOWN = "The kettle --fast boils one litre in two minutes, see the manual, not 2 * 3 * 4."
PLAIN = WRITTEN.replace("kettle", "heater").replace("litre", "gallon")
ROWS = "| switch | says |\n| --- | --- |\n| `--teapot` | how **many** cups |\n| `--tray` | which cups |\n"
HOSTILE = (
    f'Otters **swim <img src=x onerror="{EVIL}"> far** `<script>{EVIL}</script>` and [dive](javascript:{EVIL}) in '
    f"*<a href='https://shop.example'>streams</a>* <https://shop.example/y>."
)
TEXTS = {
    "kettle.md": f"# Kettles\n\n{WRITTEN}\n",
    "heater.txt": f"Heaters\n\n{PLAIN}\n",
    "switches.md": f"# Switches\n\n{ROWS}",
    "otter.md": f"# Otters\n\n{HOSTILE}\n",
    "steps.md": "# Descaling\n\nTo descale the samovar:\n\n```sh\nsamovar --empty\n  samovar --vinegar *all*\n```\n",
}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home: Path = tmp_path_factory.mktemp("marks")
    fill(home, texts=TEXTS)
    with visiting(home, said={"answer.min_answerability": 0.0}) as one:
        yield one


@pytest.fixture
def page(browser: Browser, visit: Visit) -> Iterator[Page]:
    with opened(browser, visit.address, "/ask?index=notes", reduced_motion="reduce") as one:
        yield one


def test_an_answer_draws_them_and_the_source_shows_what_is_written(page: Page) -> None:
    prose = ask(page, QUESTION).locator(".prose")

    expect(prose).to_contain_text(SHOWN.replace("manual", "manual (manual.md)"))  # as answers hold addresses
    expect(prose.locator("code").first).to_have_text("kettle --fast")
    expect(prose.locator("strong", has_text="one litre").last).to_be_visible()
    expect(prose.locator("em").first).to_have_text("two")
    assert prose.locator("a:not(.chip)").count() == 0  # no address of a document can be opened
    prose.locator("a.chip").first.click()
    expect(page.locator("#source-text mark.cited").first).to_have_text(WRITTEN)


def test_a_plain_text_is_shown_as_it_is(page: Page) -> None:
    prose = ask(page, "How fast does the heater boil one gallon?").locator(".prose")

    expect(prose).to_contain_text("`heater --fast` boils **one gallon** in *two* minutes")
    assert prose.locator("em").count() == 0


def test_a_table_and_a_block_of_code_draw_them_too(page: Page) -> None:
    table = ask(page, "Which switch says how many cups, --teapot or --tray?").locator(".prose td code").first
    expect(table).to_have_text("--teapot")
    block = ask(page, "How do I descale the samovar?").locator(".prose code.block")
    expect(block).to_have_text("samovar --empty\n  samovar --vinegar *all*\n")
    page.set_viewport_size({"width": 360, "height": 640})
    assert no_wider_than_the_window(page)


def test_a_hit_marks_the_words_within_what_is_drawn(page: Page, visit: Visit) -> None:
    page.goto(f"{visit.address}/search?index=notes")
    search(page, "kettle litre")
    hit = page.locator(".hit", has_text="kettle.md").locator(".snippet")

    expect(hit).to_contain_text(SHOWN)
    expect(hit.locator("code mark").first).to_have_text("kettle")
    expect(hit.locator("strong mark").last).to_have_text("litre")


def test_no_mark_makes_markup_or_an_address(page: Page, visit: Visit) -> None:
    """The window holds afterwards that nothing ran and nobody else was asked."""
    turn = ask(page, "How far do otters swim?")
    page.goto(f"{visit.address}/search?index=notes")
    search(page, "otters swim far")
    hit = page.locator(".hit", has_text="otter.md").locator(".snippet")

    expect(hit).to_contain_text('swim <img src=x onerror="')
    expect(hit.locator("code").first).to_have_text(f"<script>{EVIL}</script>")
    expect(hit.locator("em").first).to_have_text("<a href='https://shop.example'>streams</a>")
    assert page.locator(".snippet :is(a, img, script)").count() == 0
    assert page.title() != "owned"
    assert turn is not None


HOSTILE_LENGTHS = """async () => {
  const { runsOf, plainOf } = await import("/page/markup.js");
  const texts = ["*a ", "[", "`", "**", "_a", "[a](", "`a", "[[a]", "> ", "# ", "- "].map((one) => one.repeat(20000));
  const begun = performance.now();
  texts.forEach((one) => plainOf(runsOf(one)));
  return performance.now() - begun;
}"""


def test_no_text_takes_long_to_read(page: Page) -> None:
    assert page.evaluate(HOSTILE_LENGTHS) < 20_000  # half a second on a calm machine
