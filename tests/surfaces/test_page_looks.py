"""How the page of the server looks, at any size and in any light, and which words on it are marked."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from support.api_client import TEXTS, Visit, fill, visiting
from support.browser import LONG, QUESTION, SENTENCE, ask, browsing, chosen, on_screen, opened, search
from support.documents import Words, pdf_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as one:
        yield one


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("paged")
    fill(home, texts={**TEXTS, "ferries.txt": LONG})
    with visiting(home) as one:
        yield one


@pytest.fixture
def page(browser: Browser, visit: Visit) -> Iterator[Page]:
    with opened(browser, visit.address) as one:
        yield one


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(360, 640), (640, 360), (1280, 800)])
def test_nothing_is_cut_off_at_any_width(browser: Browser, visit: Visit, scheme: str, width: int, height: int) -> None:
    looks = {"color_scheme": scheme, "viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}
    with opened(browser, visit.address, **looks) as page:
        chosen(page)
        ask(page, QUESTION)
        page.locator(".hit details").first.evaluate("(one) => { one.open = true; }")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(FAINTEST) >= 4.5  # WCAG 2.2, 1.4.3
        page.locator(f'.chip[title="{SENTENCE}"]').click()
        cited = page.locator("#passage mark.cited")
        expect(cited).to_have_text(SENTENCE)
        assert on_screen(cited)
        assert page.evaluate("document.querySelector('#passage').scrollWidth <= innerWidth")


FAINTEST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (color, under) => {
    canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return `rgb(${[...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)})`;
  };
  const light = (rgb) => rgb.match(/\\d+/g).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => element === null ? getComputedStyle(document.body).backgroundColor
    : over(getComputedStyle(element).backgroundColor, behind(element.parentElement));
  const contrast = (element) => {
    const under = behind(element);
    const [a, b] = [light(over(getComputedStyle(element).color, under)), light(under)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const written = [...document.querySelectorAll("main *, header *")].filter((one) =>
    one.checkVisibility() && [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
  return Math.min(...written.map(contrast));
}"""


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


MARKED: list[tuple[str, list[str], list[str]]] = [
    ("He commits, committed, and is committing.", ["commit"], ["commits", "committed", "committing"]),
    ("commitments and committees", ["commit"], ["commitments", "committees"]),
    ("Happy, happier; unhappy", ["happi"], ["Happy", "happier"]),
    ("Über die Brücke", ["uber", "bruck"], ["Über", "Brücke"]),
    ("我喜欢北京烤鸭", ["北京", "京烤"], ["北京烤"]),
    ("a an the", ["th"], []),
]


def test_words_are_marked_by_the_terms_they_have(page: Page) -> None:
    found = page.evaluate(
        """async (cases) => {
          const { spansOf } = await import("/page/marking.js");
          return cases.map(([text, terms]) => spansOf(text, terms).map(([start, end]) => text.slice(start, end)));
        }""",
        [[text, terms] for text, terms, _ in MARKED],
    )
    assert found == [marks for _, _, marks in MARKED]


def test_a_passage_of_a_pdf_opens_beside_the_picture_of_its_page(page: Page, visit: Visit) -> None:
    pages = [[Words(72, 700, "A first page about nothing.")], [Words(72, 700, "Marmots whistle at eagles.")]]
    job = visit.client.post("/v1/indexes/notes/documents", files=[("file", ("alps.pdf", pdf_of(pages)))]).json()
    assert visit.finished(job["id"])["state"] == "done"
    chosen(page)
    search(page, "marmots whistle")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    picture = page.locator("#passage-page img")
    expect(picture).to_have_attribute("alt", "Page 2, with the passage marked")
    assert picture.evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 100
    assert on_screen(picture)
    assert on_screen(page.locator("#passage mark", has_text="Marmots"))
    expect(page.locator("#passage mark")).to_have_text(["Marmots", "whistle"])  # not what the search added itself
