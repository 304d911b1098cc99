"""What a file's name says of its document stands in front of its passages, and never in their text."""

from pathlib import Path

import pytest

from support.documents import docx_sample
from twofold import Index
from twofold.ingest.chunking.document_name import document_name
from twofold.models.embedders.hashing import HashingEmbedder


@pytest.mark.parametrize(
    ("source", "title", "expected"),
    [
        ("filings/ADOBE_2022_10K.pdf", "", "Adobe 2022 10-K"),
        ("3M_2018_10K.pdf", "10-K - 02/07/2019 - 3M Company", "3M 2018 10-K"),
        ("AMCOR_2023Q4_EARNINGS.pdf", "Exhibit 99.1", "Amcor 2023 Q4 Earnings"),
        ("AnnualReport2023.docx", "For our shareholders", "Annual Report 2023"),
        ("meeting-notes-2024-05-12.md", "", "meeting notes 2024-05-12"),
        ("Rechnung_März_2024_final.pdf", "", "Rechnung März 2024"),
        ("backup-dump.html", "SQL Dump", ""),  # the title says it, but for a word
        ("annual-report-2023.html", "Annual Report 2023", ""),
        ("notes.md", "", ""),
        ("dpkg.log.2.gz", "", ""),
        ("night-ferry.txt.xz", "", "night ferry"),
        ("4983", "", ""),
        ("IMG_2031.pdf", "", ""),
        ("3fa85f64-5717-4562-b3fc-2c963f66afa6.pdf", "", ""),
    ],
)
def test_a_name_is_words_where_the_title_lacks_them(source: str, title: str, expected: str) -> None:
    assert document_name(source, title) == expected


def test_a_passage_is_found_by_its_file_s_name_and_quoted_without_it(tmp_path: Path) -> None:
    for name in ("ADOBE_2022_10K.docx", "ADOBE_2019_10K.docx", "OTHER_2022_10K.docx"):
        (tmp_path / name).write_bytes(docx_sample())
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.sync(tmp_path)
        for mode in ("bm25", "vector"):
            (hit, *_) = index.search("sales of Adobe in 2022", mode=mode).hits
            assert hit.source.endswith("ADOBE_2022_10K.docx")
            assert hit.heading[:2] == ("Adobe 2022 10-K", "The annual report")
            assert "Adobe" not in hit.text
            assert index.document(hit.document).text[hit.start : hit.end] == hit.text
