"""Spreadsheets: sheets are headings, rows come in groups with their header, counted before they are laid out."""

from datetime import UTC, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import open_document_of, xlsx_of, xlsx_with
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.archive import OLE_SIGNATURE
from twofold.ingest.readers.office.sheets import read_sheets
from twofold.ingest.readers.types import Extract, Source


def read(data: bytes) -> Extract:
    return read_sheets(Source("file.xlsx", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def kind_of_refusal(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data)
    return caught.value.kind


def grid(rows: list[list[object]], top: int = 1) -> dict[str, object]:
    return {f"{chr(65 + at)}{top + row}": cell for row, cells in enumerate(rows) for at, cell in enumerate(cells)}


def test_rows_come_in_groups_of_twenty_that_know_their_header_and_numbers() -> None:
    rows: list[list[object]] = [["Name", "Sum"], *([f"n{at}", at] for at in range(2, 44))]
    extract = read(xlsx_of({"Data": grid(rows), "Empty": {}}))

    assert [(block.kind, block.place) for block in extract.blocks] == [
        (BlockKind.HEADING, ""),
        (BlockKind.TABLE, "Data rows 2-21"),
        (BlockKind.TABLE, "Data rows 22-41"),
        (BlockKind.TABLE, "Data rows 42-43"),
    ]
    assert {block.header for block in extract.blocks[1:]} == {"Name | Sum"}
    assert {block.heading for block in extract.blocks[1:]} == {("Data",)}
    assert texts(extract)[1].startswith("Name | Sum\nn2 | 2\n")
    assert texts(extract)[3] == "n42 | 42\nn43 | 43"
    assert extract.metadata["sheets"] == 2


def test_values_are_written_as_people_write_them() -> None:
    cells = {"A1": "x", "B1": 2.0, "C1": 0.1 + 0.2, "D1": True, "E1": datetime(2024, 5, 6, tzinfo=None), "F1": 1e300}  # noqa: DTZ001
    extract = read(xlsx_of({"S": cells}))

    assert texts(extract)[1] == f"x | 2 | 0.3 | true | 2024-05-06 | {1e300:.12g}"


def test_times_of_a_day_are_readable() -> None:
    moment = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC).replace(tzinfo=None)

    assert texts(read(xlsx_of({"S": {"A1": "x", "B1": moment}}, "yyyy-mm-dd hh:mm")))[1] == "x | 2024-05-06 07:08:09"
    assert "07:08:09" in read(xlsx_of({"S": {"A1": "x", "B1": time(7, 8, 9)}}, "hh:mm:ss")).text


def test_a_title_above_a_table_is_a_paragraph_and_margins_are_cut() -> None:
    cells = {"C3": "Ducks by year", "C5": "Year", "D5": "Ducks", "C6": 2019, "D6": 120}
    extract = read(xlsx_of({"S": {**cells, "C4": "in thousands"}}))

    assert texts(extract) == ["S", "Ducks by year", "in thousands", "Year | Ducks\n2019 | 120"]
    assert extract.blocks[1].place == "S row 3"
    assert extract.blocks[3].place == "S rows 6-6"


def test_a_table_that_goes_on_after_a_blank_row_keeps_its_header() -> None:
    cells = {**grid([["Year", "Ducks"], [2019, 120]]), **grid([[2020, 130]], top=4)}
    extract = read(xlsx_of({"S": cells}))

    assert texts(extract)[1:] == ["Year | Ducks\n2019 | 120", "2020 | 130"]
    assert extract.blocks[2].header == "Year | Ducks"


CELL = '<c r="{}"><v>1</v></c>'


def test_two_cells_far_apart_are_refused_before_the_sheet_is_laid_out() -> None:
    far = f'<row r="1">{CELL.format("A1")}</row><row r="1048576">{CELL.format("XFD1048576")}</row>'

    assert kind_of_refusal(xlsx_with(far)) == "limit"


def test_cells_without_an_address_are_counted_too() -> None:
    wide = f"<row>{'<c><v>1</v></c>' * 5000}</row>"
    tall = "<row><c><v>1</v></c></row>" * 5000

    assert kind_of_refusal(xlsx_with(wide + tall)) == "limit"


def test_a_sheet_of_a_hundred_thousand_columns_is_read_or_refused() -> None:
    cells = "".join(f"<c><v>{at}</v></c>" for at in range(100_000))

    try:
        text = read(xlsx_with(f"<row>{cells}</row>")).text
    except ReadError:
        return
    assert text.endswith("| 99999")


def test_one_long_string_shown_a_thousand_times_is_refused() -> None:
    cells = "".join(f'<c r="A{at}" t="s"><v>0</v></c>' for at in range(1, 4000))

    assert kind_of_refusal(xlsx_with(f"<row>{cells}</row>", f"<si><t>{'long ' * 20_000}</t></si>")) == "limit"


def ods(rows: str) -> bytes:
    return open_document_of("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')


def ods_cell(text: str, repeated: int = 1) -> str:
    return (
        f'<table:table-cell office:value-type="string" table:number-columns-repeated="{repeated}">'
        f"<text:p>{text}</text:p></table:table-cell>"
    )


def test_an_ods_with_its_usual_empty_margins_is_read() -> None:
    empty = '<table:table-cell table:number-columns-repeated="16382"/>'
    rows = (
        f"<table:table-row>{ods_cell('Year')}{ods_cell('Ducks')}{empty}</table:table-row>"
        f"<table:table-row>{ods_cell('x', 2)}{empty}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048574">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )

    assert texts(read(ods(rows))) == ["S", "Year | Ducks\nx | x"]


@pytest.mark.parametrize(
    "rows",
    [
        f'<table:table-row table:number-rows-repeated="1000000">{ods_cell("x", 1000)}</table:table-row>',
        f"<table:table-row>{ods_cell('long ' * 50_000, 1000)}</table:table-row>",
    ],
    ids=["cells", "characters"],
)
def test_repeated_cells_of_an_ods_are_counted_before_they_are_laid_out(rows: str) -> None:
    assert kind_of_refusal(ods(rows)) == "limit"


def test_files_that_are_none_are_refused_with_their_kind() -> None:
    assert kind_of_refusal(OLE_SIGNATURE + bytes(600) + "EncryptedPackage".encode("utf-16-le")) == "encrypted"
    assert kind_of_refusal(OLE_SIGNATURE + bytes(600)) == "malformed"
    assert kind_of_refusal(b"no sheet") == "malformed"


CELLS = st.one_of(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=8), st.integers(-9, 9)
)


@given(st.lists(st.lists(CELLS, max_size=4), max_size=30))
def test_every_cell_is_found_in_its_sheet(rows: list[list[object]]) -> None:
    extract = read(xlsx_of({"S": grid(rows)}))
    found = extract.text.replace(" | ", "\n").split("\n")

    for cell in (one for row in rows for one in row):
        shown = " ".join(str(cell).split())
        assert not shown or any(shown.strip(" |") in part for part in found) or "|" in shown or "=" in shown
    assert all(extract.text[block.start : block.end].strip() for block in extract.blocks)
