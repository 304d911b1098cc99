"""Checklist 17: a keyword five times scores more than once, and not at all is not found."""

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "five times": "dbt runs dbt tests dbt seeds dbt builds dbt",
    "once": "dbt runs some tests over seeds and builds tables",
    "never": "airflow runs some tests over seeds and builds tables",
}


def test_keyword_scores_rise_with_the_count_and_are_absent_without_it() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for name, text in TEXTS.items():
            index.add(text, source=name)
        hits = index.search("dbt", mode="bm25").hits

    assert [hit.source for hit in hits] == ["five times", "once"]
    assert hits[0].score > hits[1].score > 0.0
