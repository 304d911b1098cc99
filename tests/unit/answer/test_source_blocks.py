"""Blocks headed `[Source: file, p.N | Section: S]`, a map of citations in their order, markers."""

from support.source_files import source
from twofold.answer.context import Budget, build_context, template_named
from twofold.answer.markers import resolve

REPORT = source("The model achieved 94.2% accuracy...", 1, "papers/report.pdf", page=3, heading=("Results",), start=120)
METHODS = source("We used a 10,000 sample dataset...", 2, "methods.pdf", page=7, heading=("Setup",))


def test_the_blocks_are_those_of_the_checklist() -> None:
    context = build_context([REPORT, METHODS], template_named("voicevault"), Budget())

    assert context.text == (
        "[Source: report.pdf, p.3 | Section: Results]\nThe model achieved 94.2% accuracy...\n\n"
        "[Source: methods.pdf, p.7 | Section: Setup]\nWe used a 10,000 sample dataset..."
    )
    assert not context.cut


def test_page_and_section_are_left_out_where_there_are_none() -> None:
    context = build_context([source("Plain.", 1, "a.txt")], template_named("voicevault"), Budget())

    assert context.text == "[Source: a.txt]\nPlain."


def test_the_map_of_citations_runs_in_the_order_of_the_blocks() -> None:
    citations = build_context([REPORT, METHODS], template_named("voicevault"), Budget()).citations

    assert [(one.number, one.source, one.page, one.start, one.end) for one in citations] == [
        (1, "papers/report.pdf", 3, 120, 156),
        (2, "methods.pdf", 7, 0, 34),
    ]
    assert citations[0].quote == REPORT.text
    assert citations[0].heading == ("Results",)


def test_markers_are_mapped_back_to_their_blocks() -> None:
    sources = [REPORT, METHODS]

    assert resolve("[Source: report.pdf, p.3]", sources) == (1,)
    assert resolve("[Source: methods.pdf, p.7 | Section: Setup]", sources) == (2,)
    assert resolve("[Source: Methods.PDF]", sources) == (2,)
    assert resolve("[Source: report.pdf, p.4]", sources) == ()
    assert resolve("[Source: elsewhere.pdf, p.3]", sources) == ()
    assert resolve("[2]", sources) == (2,)
    assert resolve("[1, 2]", sources) == (1, 2)
    assert resolve("[1-9]", sources) == (1, 2)
    assert resolve("[3]", sources) == ()
