"""Where an answer leads: what it cites before what was merely read, rows, messages, seconds, pages, locked files."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from support.api_client import Visit, fill, visiting
from support.browser import ask, on_screen, opened
from support.documents import Words, pdf_of
from support.speech import spoken

FARES = "port,vehicle,fare\nOstend,car,140 euros\nOstend,bicycle,35 euros\nHull,car,220 euros\nHull,bicycle,60 euros\n"
MARKDOWN = "# Depths\n\n| basin | depth |\n| --- | --- |\n| northern | 9.5 meters |\n| southern | 7 meters |\n"
BOX = "".join(
    f"From ben@example.org Mon Mar  2 10:0{at}:00 2026\nFrom: Ben <ben@example.org>\nSubject: {about}\n"
    f"Date: Mon, 02 Mar 2026 10:0{at}:00 +0000\n\n{text}\n\n"
    for at, (about, text) in enumerate(
        [
            ("Lunch", "Shall we have lunch on Friday?"),
            ("Crane", "The crane failed its inspection because of a worn brake."),
        ]
    )
)
TOUR = "The lighthouse was built in eighteen ninety two. " * 9 + "The restaurant is closed on Mondays."
NO_TABLE = "Steps:\n$ cat a | sort\n$ cat b | sort\n\na | b\nc | d | e\n"
"""Commands, and lines of two kinds."""
LOCK = f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O({'o' * 32})/U({'u' * 32})>>/ID[(a)(a)]"


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """Serve files of many kinds that came in over HTTP; the answer is shown, however little speaks for it."""
    home = tmp_path_factory.mktemp("harbor")
    fill(home, texts={"depths.md": MARKDOWN, "boats.txt": "A pilot boat carries eight people.", "owl.txt": "Owls."})
    with visiting(home, said={"index": "notes", "answer.min_answerability": 0.0}) as one:
        pages = [[Words(72, 700, "Nothing of note.")], [Words(72, 700, "The quay wall costs 3.4 million euros.")]]
        sent = {"fares.csv": FARES.encode(), "office.mbox": BOX.encode(), "budget.pdf": pdf_of(pages)}
        job = one.client.post("/v1/indexes/notes/documents", files=[("file", each) for each in sent.items()]).json()
        assert one.finished(job["id"])["state"] == "done"
        yield one


@pytest.fixture
def asking(browser: Browser, harbor: Visit) -> Iterator[Page]:
    with opened(browser, harbor.address, "/ask?index=notes&by=extracts") as page:
        expect(page.locator("#question")).to_be_visible()
        yield page


def test_what_an_answer_cites_stands_before_what_was_read_besides(asking: Page) -> None:
    turn = ask(asking, "How many people does a pilot boat carry?")
    cited = set(turn.locator(".prose a.chip").all_text_contents())
    shown = turn.locator(".answer > .source-list .chip")
    assert set(shown.all_text_contents()) == cited
    folded = turn.locator(".sources-more")
    expect(folded.locator("summary")).to_contain_text("were read")
    expect(folded.locator("a").first).to_be_hidden()
    folded.locator("summary").press("Enter")
    expect(folded.locator("a").first).to_be_visible()
    assert cited.isdisjoint(folded.locator(".chip").all_text_contents())
    asking.reload()
    expect(turn.locator(".answer > .source-list .chip")).to_have_count(len(cited))


def test_a_row_is_opened_where_it_stands_and_not_at_its_header(asking: Page) -> None:
    turn = ask(asking, "What is the fare to Hull for a bicycle?")
    expect(turn.locator(".prose tbody tr").first.locator("td")).to_have_text(["Hull", "bicycle", "60 euros"])
    turn.locator(".prose a.chip").first.click()
    expect(asking.locator("#source-text mark.cited")).to_have_text("Hull | bicycle | 60 euros")
    expect(asking.locator("#source .where")).to_contain_text("rows")
    narrow = """(all) => {
      all[0].closest(".prose").style.width = "110px";
      return all.map((one) => one.clientHeight);
    }"""
    assert max(turn.locator(".prose th").evaluate_all(narrow)) < 45  # the table scrolls, and no word of it is cut


def test_a_table_of_markdown_has_as_many_columns_as_its_header(asking: Page) -> None:
    turn = ask(asking, "What is the depth of the northern basin?")
    expect(turn.locator(".prose table").first.locator("th")).to_have_text(["basin", "depth"])
    expect(turn.locator(".prose table").first.locator("tbody tr").first.locator("td")).to_have_text(
        ["northern", "9.5 meters"]
    )


def test_a_citation_leads_to_the_message_and_to_the_page(asking: Page, harbor: Visit) -> None:
    turn = ask(asking, "Why did the crane fail its inspection?")
    expect(turn.locator(".source-list a").first).to_contain_text("message 2")
    turn.locator(".prose a.chip").first.click()
    expect(asking.locator("#source .where")).to_contain_text("message 2")
    assert on_screen(asking.locator("#source-text mark.cited"))

    asking.goto(f"{harbor.address}/ask?index=notes&by=extracts")
    turn = ask(asking, "What does the quay wall cost?")
    expect(turn.locator(".source-list a").first).to_contain_text("page 2")
    turn.locator(".prose a.chip").first.click()
    picture = asking.locator("#source-page a img")
    expect(picture).to_have_attribute("alt", "Page 2, with the passage marked")
    expect(picture).to_have_js_property("complete", value=True)
    picture.click()  # larger, in the document
    expect(asking.locator(".page-list li.current img")).to_be_visible()
    expect(asking.locator(".page-list li.current")).to_contain_text("page 2")


def test_a_citation_of_a_recording_says_at_which_second(harbor: Visit, asking: Page) -> None:
    job = harbor.client.post("/v1/indexes/notes/documents", files=[("file", ("tour.wav", spoken(TOUR)))]).json()
    done = harbor.finished(job["id"])
    if done["files"][0]["state"] != "done":
        pytest.skip(f"no recording is read here: {done['files'][0]['problem']}")
    turn = ask(asking, "When is the restaurant closed?")
    chip = turn.locator('.prose a.chip[aria-label*="tour.wav"]').first
    expect(turn.locator(".source-list a", has_text="tour.wav").first).to_contain_text("00:00:")
    chip.click()
    expect(asking.locator("#source .where")).to_contain_text("00:00:")
    expect(asking.locator("#source-text mark.cited")).to_contain_text("closed on Monday")  # as the model heard it


def test_a_table_without_bars_around_its_rows_is_drawn_as_one(browser: Browser, harbor: Visit) -> None:
    with opened(browser, harbor.address, "/search?index=notes&q=fare+Hull+bicycle") as page:
        found = page.locator(".hit", has_text="fares.csv")
        expect(found.locator("th")).to_have_text(["port", "vehicle", "fare"])
        expect(found.locator("tbody tr").last.locator("td")).to_have_text(["Hull", "bicycle", "60 euros"])
        pieces = page.evaluate(
            """async (text) => {
              const { stretchesOf } = await import("/page/passages.js");
              return stretchesOf(text).map((one) => one.rows ?? one.text);
            }""",
            NO_TABLE,
        )
        assert pieces == [
            "Steps:\n$ cat a | sort\n$ cat b | sort\n\na | b\nc | d | e\n"
        ]  # neither commands nor lines of two kinds


def test_a_locked_file_says_so_in_the_language_of_the_page(browser: Browser, harbor: Visit) -> None:
    locked: FilePayload = {
        "name": "locked.pdf",
        "mimeType": "application/pdf",
        "buffer": pdf_of([[Words(72, 700, "Secret.")]], trailer=LOCK),
    }
    for language, why in (
        ("en-US", "Locked by a password. Save a copy without the password."),
        ("de-DE", "Durch ein Passwort gesperrt. Speichern Sie eine Kopie ohne Passwort."),
    ):
        with opened(browser, harbor.address, "/library?index=notes", locale=language) as page:
            page.locator("#files").set_input_files([locked])
            expect(page.locator(".queue .item-why")).to_have_text(why)
