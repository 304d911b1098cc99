"""PowerPoint files: slides are pages, titles headings, notes come last; tables, groups and charts are read."""

from io import BytesIO

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from support.documents import pptx_sample, repacked
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.office.pptx import read_pptx
from twofold.ingest.readers.types import Extract, Source


def read(data: bytes) -> Extract:
    return read_pptx(Source("file.pptx", data))


def texts(extract: Extract) -> list[str]:
    return [extract.text[block.start : block.end] for block in extract.blocks]


def test_slides_are_pages_with_title_text_and_notes_in_that_order() -> None:
    extract = read(pptx_sample())

    assert [(block.page, block.kind, block.heading) for block in extract.blocks] == [
        (1, BlockKind.HEADING, ()),
        (1, BlockKind.LIST, ("Why it matters",)),
        (1, BlockKind.PARAGRAPH, ("Why it matters",)),
        (2, BlockKind.TABLE, ()),
        (2, BlockKind.PARAGRAPH, ()),
    ]
    assert texts(extract) == ["Why it matters", "Speed\nQuality", "Pause here.", "Year | Sum\n2024 | 9", "Deep inside"]
    assert extract.blocks[3].header == "Year | Sum"
    assert extract.title == "Why it matters"
    assert extract.metadata["slides"] == 2
    assert extract.metadata["author"] == "Ada Writer"


def test_the_order_is_that_of_the_show_and_not_of_the_file_names() -> None:
    def swap(name: str, part: bytes) -> bytes:
        if name != "ppt/presentation.xml":
            return part
        head, list_, tail = part.partition(b"<p:sldIdLst>")
        inside, end, rest = tail.partition(b"</p:sldIdLst>")
        first, second = inside.replace(b"/><", b"/>\n<").split(b"\n")
        return head + list_ + second + first + end + rest

    assert [block.page for block in read(repacked(pptx_sample(), swap)).blocks] == [1, 1, 2, 2, 2]


def test_a_chart_is_a_table_under_its_slide() -> None:
    show = Presentation()
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["2023", "2024"]
    data.add_series("Ducks", (4.4, 0.1 + 0.2))  # type: ignore[no-untyped-call]
    data.add_series("Geese", (7, None))  # type: ignore[no-untyped-call]
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Birds"
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data)
    saved = BytesIO()
    show.save(saved)

    assert texts(read(saved.getvalue()))[1] == " | Ducks | Geese\n2023 | 4.4 | 7\n2024 | 0.3"


def test_a_file_without_slides_is_empty_and_no_error() -> None:
    def strip(name: str, part: bytes) -> bytes:
        if name != "ppt/presentation.xml":
            return part
        return part.partition(b"<p:sldIdLst>")[0] + part.partition(b"</p:sldIdLst>")[2]

    assert read(repacked(pptx_sample(), strip)).text == ""


def test_a_slide_shown_many_times_is_not_read_many_times() -> None:
    def repeat(name: str, part: bytes) -> bytes:
        if name != "ppt/presentation.xml":
            return part
        return part.replace(
            b"</p:sldIdLst>", part.partition(b"<p:sldIdLst>")[2].partition(b"</p:sldIdLst>")[0] * 9 + b"</p:sldIdLst>"
        )

    with pytest.raises(ReadError, match="one slide twice"):
        read(repacked(pptx_sample(), repeat))
