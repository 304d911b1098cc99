"""PDF: text in reading order with pages, headings and tables, and the way back to rectangles on the page."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import Words, assembled, pdf_of, scan_pdf
from support.pictures import joined
from twofold.domain.errors import ReadError
from twofold.domain.types import Block, BlockKind, Dropped
from twofold.ingest.readers.pdf.reader import MAX_PAGES, read_pdf
from twofold.ingest.readers.types import Extract, Source

LEFT = 72
_HEADING = BlockKind.HEADING


def read(data: bytes) -> Extract:
    return read_pdf(Source("file.pdf", data))


def lines(*texts: str, top: float = 700, size: float = 12, bold: bool = False) -> list[Words]:
    """Lines one under the other, with the usual gap."""
    return [Words(LEFT, top - at * size * 1.2, text, size, bold) for at, text in enumerate(texts)]


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def block_with(extract: Extract, words: str) -> Block:
    return next(block for block in extract.blocks if words in extract.text[block.start : block.end])


def kind_of_refusal(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data)
    assert caught.value.message.startswith("file.pdf: ")
    assert caught.value.hint
    return caught.value.kind


def test_lines_become_paragraphs_that_know_their_page() -> None:
    first = [*lines("Cats sleep most of the day", "and hunt at dusk."), *lines("Dogs bark.", top=640)]
    extract = read(pdf_of([first, lines("Birds sing.")]))

    assert texts(extract) == ["Cats sleep most of the day and hunt at dusk.", "Dogs bark.", "Birds sing."]
    assert [block.page for block in extract.blocks] == [1, 1, 2]
    assert extract.metadata["pages"] == 2
    assert "pages_without_text" not in extract.metadata


def test_large_and_bold_lines_are_headings_with_a_path() -> None:
    page = [
        *lines("Annual report", size=24),
        *lines("Europe", top=650, size=16),
        *lines("Sales rose in every region of the continent, and so did", "the costs of carriage.", top=620),
        *lines("Asia", top=560, size=16),
        *lines("Sales fell.", top=530),
        *lines("Outlook", top=500, bold=True),
        *lines("All is well in the long run, we think.", top=470),
    ]
    extract = read(pdf_of([page]))

    assert [texts(extract)[at] for at, block in enumerate(extract.blocks) if block.kind is BlockKind.HEADING] == [
        "Annual report",
        "Europe",
        "Asia",
        "Outlook",
    ]
    assert block_with(extract, "Sales rose").heading == ("Annual report", "Europe")
    assert block_with(extract, "All is well").heading == ("Annual report", "Asia", "Outlook")
    assert extract.title == "Annual report"


@pytest.mark.parametrize(
    "line",
    [
        "Ann Lee and Bo Chan, press@example.org",
        "The following table shows key figures of the regions:",
        "3.1 Nature of Grant. By accepting it the holder agrees that:",
        "Restructuring 91 119 63 76",
    ],
)
def test_bold_lines_that_name_no_section_stand_above_nothing(line: str) -> None:
    page = [
        *lines("Sales of the year", bold=True),
        *lines("Sales rose in every region of the continent.", top=660),
        *lines(line, top=620, bold=True),
        *lines("All is well in the long run, we think.", top=580),
    ]
    extract = read(pdf_of([page]))

    assert block_with(extract, line[:20]).kind is not BlockKind.HEADING
    assert block_with(extract, "All is well").heading == ("Sales of the year",)


def test_small_print_of_tables_makes_no_headings_of_prose() -> None:
    prose = [
        *lines("Sales of the year", bold=True),
        *lines("Sales rose in every region and they rose more than in", top=660),
        *lines("all the years before", top=600),
    ]
    small = [
        Words(left, 700 - row * 9, text, 7)
        for row in range(40)
        for left, text in ((LEFT, f"Region {row}"), (250, f"{row}.5"), (350, f"{row + 1}.5"))
    ]
    extract = read(pdf_of([prose, small]))

    headings = [text for text, block in zip(texts(extract), extract.blocks, strict=True) if block.kind is _HEADING]
    assert any(block.kind is BlockKind.TABLE for block in extract.blocks)
    assert headings == ["Sales of the year"]


def test_titles_in_capitals_are_headings_even_in_small_print() -> None:
    page = [
        *lines(
            "A report on sales and on all that they brought in", "the year, told in the size of the report.", top=700
        ),
        *lines("BALANCE SHEETS (In thousands) (Unaudited)", top=600, size=9),
        *lines("TM TM", top=560),
        *lines("All is well in the long run, we think.", top=520),
    ]
    extract = read(pdf_of([page]))

    assert block_with(extract, "All is well").heading == ("BALANCE SHEETS (In thousands) (Unaudited)",)


def test_a_running_title_is_no_heading() -> None:
    pages = [
        [*lines("The Company", bold=True), *lines(f"Page number {at} says little about it.", top=600)]
        for at in range(9)
    ]

    extract = read(pdf_of(pages))

    assert {block.kind for block in extract.blocks} == {BlockKind.PARAGRAPH}
    assert extract.dropped == (Dropped("The Company", "running header", 1, 9),)
    assert "The Company" not in extract.text


def test_a_table_keeps_each_row_on_one_line_and_knows_its_header() -> None:
    rows = [("Years ended December 31,", "2022", "2021"), ("Revenue", "1,500", "1,400"), ("Loss", "(20)", "(31)")]
    page = [
        Words(x, 700 - 15 * at, cell)
        for at, row in enumerate(rows)
        for x, cell in zip((LEFT, 350, 450), row, strict=True)
    ]
    extract = read(pdf_of([page]))

    assert extract.text == "Years ended December 31, | 2022 | 2021\nRevenue | 1,500 | 1,400\nLoss | (20) | (31)"
    assert extract.blocks[0].kind is BlockKind.TABLE
    assert extract.blocks[0].header == "Years ended December 31, | 2022 | 2021"


def test_bullets_are_lists() -> None:
    extract = read(pdf_of([lines("\u2022 Cats sleep", "\u2022 Dogs bark")]))

    assert texts(extract) == ["\u2022 Cats sleep", "\u2022 Dogs bark"]
    assert {block.kind for block in extract.blocks} == {BlockKind.LIST}


def test_each_option_of_a_commands_help_is_an_item() -> None:
    options = ("-c : only write connected graphs", "-d#, --least: a lower bound", "that goes on in a second line")
    extract = read(pdf_of([lines(*options, "-v : display counts")]))

    assert texts(extract) == [options[0], f"{options[1]} {options[2]}", "-v : display counts"]
    assert {block.kind for block in extract.blocks} == {BlockKind.LIST}


@pytest.mark.parametrize(
    ("page", "joined"),
    [
        (["We saw the repre-", "sentation of cats."], "We saw the representation of cats."),
        (["A term is long. The long-", "term plan has a term."], "A term is long. The long-term plan has a term."),
        (["The virus COVID-", "19 was new."], "The virus COVID-19 was new."),
        (["It is non-", "trivial to say."], "It is non-trivial to say."),
        (["He went away -", "she stayed."], "He went away - she stayed."),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_goes_only_when_that_is_safe(page: list[str], joined: str) -> None:
    assert read(pdf_of([lines(*page)])).text == joined


def test_metadata_is_read_and_a_file_name_is_no_title() -> None:
    info = "/Title(The cat)/Author(Ada)/CreationDate(D:20230127142859-05'00')/ModDate(D:2023)"
    extract = read(pdf_of([lines("Text.")], info=info))

    assert extract.title == "The cat"
    assert extract.metadata == {"author": "Ada", "created": "2023-01-27T14:28:59", "modified": "2023", "pages": 1}
    assert read(pdf_of([lines("Text.")], info="/Title(report_final.docx)")).title == ""


def test_pages_without_text_are_counted() -> None:
    scan = joined(scan_pdf(), pdf_of([lines("Text."), []]), scan_pdf())

    counts = {name: value for name, value in read(scan).metadata.items() if name.startswith("pages")}
    assert counts == {"pages": 4, "pages_without_text": 2}  # the empty page shows nothing


def test_a_scan_is_reported_with_the_remedy() -> None:
    assert kind_of_refusal(scan_pdf()) == "no-text-layer"
    with pytest.raises(ReadError) as caught:
        read(scan_pdf())
    assert "twofold[ocr]" in caught.value.hint


def test_empty_pages_are_empty_and_no_scan() -> None:
    assert kind_of_refusal(pdf_of([[], []])) == "empty"


def test_a_locked_file_is_encrypted() -> None:
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O({'o' * 32})/U({'u' * 32})>>/ID[(a)(a)]"

    assert kind_of_refusal(pdf_of([lines("Secret.")], trailer=lock)) == "encrypted"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("matrix", ["1 0 0 1 0 0", "0 1 -1 0 792 0", "-1 0 0 -1 612 792", "0 -1 1 0 0 612"])
def test_turned_text_reads_like_straight_text(matrix: str, rotation: int) -> None:
    page = lines("Cats sleep most of the day", "and hunt at dusk,", "when nobody sees them.")
    data = pdf_of([page], extra=f"/Rotate {rotation}/MediaBox[0 0 792 792]", matrix=matrix)

    assert read(data).text == "Cats sleep most of the day and hunt at dusk, when nobody sees them."


WORDS = st.text(st.sampled_from("abc -1($\u2022\u20ac\xfc"), min_size=1, max_size=12)
PLACES = st.builds(
    Words, st.integers(0, 500), st.integers(0, 780), WORDS, st.sampled_from([6, 12, 12.5, 30]), st.booleans()
)


@given(st.lists(st.lists(PLACES, max_size=8), min_size=1, max_size=2))  # three pages may have running lines
def test_a_page_reads_the_same_alone_and_among_others(pages: Sequence[Sequence[Words]]) -> None:
    data = pdf_of(pages)
    if not any(word.text.strip() for page in pages for word in page):
        assert kind_of_refusal(data) in {"empty", "no-text-layer"}
        return
    extract = read(data)

    for number in range(1, len(pages) + 1):
        blocks = [block for block in extract.blocks if block.page == number]
        start, end = (blocks[0].start, blocks[-1].end) if blocks else (0, 0)
        assert all(block.start < block.end for block in blocks)
        if any(word.text.strip() for word in pages[number - 1]):
            assert read(pdf_of([pages[number - 1]])).text == extract.text[start:end]


@given(st.lists(WORDS, min_size=1, max_size=10), st.sampled_from([6, 12, 20]))
def test_no_character_is_lost_or_made_up(found_words: Sequence[str], size: int) -> None:
    page = [Words(LEFT + 13 * at, 760 - 40 * at, text, size) for at, text in enumerate(found_words)]
    drawn = "".join(word.text for word in page)
    found = read(pdf_of([page])).text if drawn.strip() else ""

    assert set(found) - set(" \n-") <= set(drawn)
    assert sorted(re.sub(r"[\s-]", "", found)) == sorted(re.sub(r"[\s-]", "", drawn))


def test_a_hundred_thousand_pages_are_refused_at_once() -> None:
    kids = b" ".join([b"3 0 R"] * (2 * MAX_PAGES))
    data = assembled(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count %d/Kids[%b]>>" % (2 * MAX_PAGES, kids),
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
        ]
    )

    assert kind_of_refusal(data) == "limit"


SOUND = pdf_of([[*lines("Cats sleep", "and hunt."), *lines("Dogs", top=500, size=30)], []], info="/Title(A b)")


def read_or_refuse(data: bytes) -> None:
    try:
        extract = read(data)
    except ReadError:
        return
    assert all(extract.text[block.start : block.end].strip() for block in extract.blocks)


@pytest.mark.parametrize("length", range(0, len(SOUND), 23))
def test_a_truncated_file_is_read_or_refused(length: int) -> None:
    read_or_refuse(SOUND[:length])


@given(flips=st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(1, 255)), min_size=1, max_size=8))
def test_flipped_bytes_are_read_or_refused(flips: list[tuple[int, int]]) -> None:
    data = bytearray(SOUND)
    for at, change in flips:
        data[at] ^= change

    read_or_refuse(bytes(data))


@given(st.binary(max_size=200))
def test_noise_is_malformed(noise: bytes) -> None:
    assert kind_of_refusal(noise) == "malformed"
    assert kind_of_refusal(b"%PDF-1.7\n" + noise) == "malformed"


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_evidence_in_real_reports_stands_on_the_page_that_people_named(shared: Path) -> None:
    folder = shared / "data" / "financebench"
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    name = "AMCOR_2023Q4_EARNINGS"
    data = (folder / "pdfs" / f"{name}.pdf").read_bytes()
    evidence = [one for question in asked if question["doc_name"] == name for one in question["evidence"]]
    assert evidence
    extract = read(data)

    for one in evidence:
        number = one["evidence_page_num"] + 1
        blocks = [extract.text[block.start : block.end] for block in extract.blocks if block.page == number]
        page = Counter(words_of("\n".join(blocks)))
        assert not Counter(words_of(one["evidence_text"])) - page  # headings over several columns are repeated in each
