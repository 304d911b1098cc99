"""Tables of PDF: cells, header rows of several lines, joined tables, rows that run on, and what goes on below."""

from collections.abc import Sequence

from support.documents import Words, pdf_of
from twofold.domain.types import Block, BlockKind
from twofold.ingest.readers.pdf.reader import read_pdf
from twofold.ingest.readers.types import Extract, Source

COLUMNS = (72, 350, 450)
Rows = Sequence[tuple[str, ...]]


def page_of(*rows: tuple[str, ...], top: float = 700, columns: Sequence[float] = COLUMNS) -> list[Words]:
    return [
        Words(x, top - 15 * at, cell)
        for at, row in enumerate(rows)
        for x, cell in zip(columns, row, strict=False)
        if cell
    ]


def read(*pages: list[Words]) -> Extract:
    return read_pdf(Source("file.pdf", pdf_of(pages)))


def tables(extract: Extract) -> list[Block]:
    return [block for block in extract.blocks if block.kind is BlockKind.TABLE]


def test_currency_and_percent_signs_stand_with_their_figures() -> None:
    columns = (72, 300, 340, 378, 430, 460)
    rows = [
        ("Millions", "", "2022", "", "", "2021"),
        ("Sales", "$", "34,229", "", "$", "35,355"),
        ("Growth", "", "99", "%", "", "(3)"),
        ("Loss", "", "(20)", "", "", "(31)"),
    ]
    (table,) = tables(extract := read(page_of(*rows, columns=columns)))

    assert extract.text[table.start : table.end].splitlines() == [
        "Millions | 2022 | 2021",
        "Sales | $34,229 | $35,355",
        "Growth | 99% | (3)",
        "Loss | (20) | (31)",
    ]


def test_a_header_of_two_lines_is_one_row_and_names_each_column() -> None:
    """One heading stands over both columns, and the years below it: each column gets both."""
    page = [Words(330, 715, "Three months ended in"), *page_of(("", "2022", "2021"), ("Sales", "34,229", "35,355"))]
    (table,) = tables(extract := read([*page, *page_of(("Costs", "19,232", "18,795"), top=670)]))

    assert table.header == " | Three months ended in 2022 | Three months ended in 2021"
    assert extract.text[table.start : table.end].splitlines()[0] == table.header


def test_tables_that_follow_each_other_are_two() -> None:
    rows = [
        ("Sales by year", "2022", "2021"),
        ("Asia", "4,484", "2,792"),
        ("Europe", "4,038", "4,334"),
        ("Staff by year", "2020", "2019"),
        ("Asia", "11", "12"),
        ("Europe", "13", "14"),
    ]
    one, other = tables(read(page_of(*rows)))

    assert one.header == "Sales by year | 2022 | 2021"
    assert other.header == "Staff by year | 2020 | 2019"


def test_a_label_that_runs_on_is_one_row() -> None:
    rows = [
        ("", "2022", "2021"),
        ("Sales", "34,229", "35,355"),
        ("Concessions and other",),
        ("considerations", "16", "14"),
    ]
    (table,) = tables(extract := read(page_of(*rows)))

    assert extract.text[table.start : table.end].endswith("\nConcessions and other considerations | 16 | 14")


def test_rows_below_a_gap_know_the_header_above() -> None:
    rows = [("", "2022", "2021"), ("Sales", "34,229", "35,355"), ("Costs", "19,232", "18,795")]
    below = page_of(("Cash",), ("Basic", "566.0", "579.0"), ("Diluted", "567.6", "585.3"), top=600)
    _, other = tables(extract := read([*page_of(*rows), *below]))

    assert other.header == " | 2022 | 2021"
    assert extract.text[other.start : other.end] == "Cash\nBasic | 566.0 | 579.0\nDiluted | 567.6 | 585.3"


def test_a_table_stands_under_the_line_that_introduces_it() -> None:
    above = [Words(72, 740, "Revenues by place were as follows:")]
    (table,) = tables(read([*above, *page_of(("", "2022", "2021"), ("Asia", "1", "2"), ("Europe", "3", "4"))]))

    assert table.heading == ("Revenues by place were as follows",)


def test_header_cells_written_one_after_the_other_are_rows() -> None:
    """A file may hold "March 31," over "2022" cell by cell: down one column, up, and down the next."""
    cells = [Words(x, y, text) for x in (350, 450) for y, text in ((700, "March 31,"), (686, "2022"))]
    years = [*cells[:3], Words(450, 686, "2021")]
    (table,) = tables(extract := read([*years, *page_of(("Sales", "34,229", "35,355"), ("Costs", "9", "8"), top=670)]))

    assert table.header == " | March 31, 2022 | March 31, 2021"
    assert extract.text[table.start : table.end].splitlines()[1:] == ["Sales | 34,229 | 35,355", "Costs | 9 | 8"]


def test_two_columns_of_text_stay_as_they_are() -> None:
    left = [Words(72, 700 - 14 * at, f"Left line {at} of running text") for at in range(8)]
    right = [Words(330, 700 - 14 * at, f"Right line {at} of running text") for at in range(8)]
    text = read([*left, *right]).text

    assert text.index("Left line 7") < text.index("Right line 0")


def test_lines_over_the_middle_of_a_table_are_its_caption() -> None:
    """They would stand over the first column of figures too, and be repeated in every row's header."""
    rows = [("", "2022", "2021"), ("Las Vegas Strip Resorts", "877,052", "698,739"), ("China", "(54,979)", "5,015")]
    body = page_of(*rows, top=670)
    titles = [Words(212, 700, "NET REVENUES BY REGION"), Words(246, 685, "(In thousands)")]
    (table,) = tables(read([*titles, *body]))

    assert table.header == " | 2022 | 2021"
    assert table.heading[-1] == "NET REVENUES BY REGION (In thousands)"
