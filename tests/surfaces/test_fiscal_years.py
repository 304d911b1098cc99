"""A fiscal year in short form is searched for by its year, and read in words by the embedder."""

import pytest

from support.indexes import Counted, indexed, sources
from twofold.query.fiscal_years import written_out

REPORTS = {
    "report-a.txt": "Capital spending in 2021 went into new plants.",
    "report-b.txt": "Capital spending in 2022 went into new plants.",
    "report-c.txt": "Capital spending in 2023 went into new plants.",
}


@pytest.mark.parametrize("form", ["FY2022", "FY 2022", "fy2022", "FY22", "FY'22", "FY\u201922"])
def test_the_year_finds_what_names_it(form: str) -> None:
    with indexed(REPORTS) as index:
        found = index.search(f"capital spending of {form}", mode="bm25")
        weights = {one.term: one.weight for one in found.hits[0].trace.terms}
        parsed = next(one for one in found.stages if one.name == "parse")
    assert sources(found)[0] == "report-b.txt"
    assert weights["2022"] == 1.0
    assert f"{form} stands for fiscal year 2022 too" in parsed.notes


def test_the_short_form_is_still_found_where_documents_use_it() -> None:
    with indexed({"a.txt": "Plan for the year 2022.", "b.txt": "Plan for FY2022."}) as index:
        assert sources(index.search("plan FY2022", mode="bm25"))[0] == "b.txt"


def test_the_embedder_reads_it_in_words() -> None:
    embedder = Counted()
    with indexed(REPORTS, embedder=embedder) as index:
        index.search("capital spending of FY2022 and FY21")
    assert embedder.asked == [("capital spending of fiscal year 2022 and fiscal year 2021",)]


@pytest.mark.parametrize("text", ["the FYI of 2022", "FY 22 tons", "FY2", "FY20223", "FY1822", "plan_FY2022", "x.FY22"])
def test_what_is_no_fiscal_year_stays(text: str) -> None:
    assert written_out(text) == text


def test_the_last_century_is_known() -> None:
    assert written_out("FY99 and FY69") == "fiscal year 1999 and fiscal year 2069"
