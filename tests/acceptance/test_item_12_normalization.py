"""Checklist 12: trim, lower case, no special characters for words, and the original kept for display."""

import pytest

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.parse import Analysis, ParsedQuery, parse
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold


def parsed(text: str, spec: str) -> ParsedQuery:
    analyzer = analyzer_for(spec)
    return parse(text, Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms))


def test_what_is_dbt() -> None:
    found = parsed("  What is dbt?  ", "english")

    assert found.normalized == "what is dbt"
    assert found.normalized.split() == ["what", "is", "dbt"]
    assert list(found.terms.weights) == ["dbt"]  # after stop words


def test_the_original_is_kept_for_display() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("dbt is a tool", source="dbt.md")
        assert index.search("  What is dbt?  ").query == "  What is dbt?  "


@pytest.mark.parametrize("said", ["type:.md", "-path:old", "after:2025-01-01"])
def test_what_says_where_to_look_is_not_among_the_words(said: str) -> None:
    found = parsed(f"  What is dbt? {said} ", "english")

    assert found.original == f"  What is dbt? {said} "
    assert (found.normalized, list(found.terms.weights)) == ("what is dbt", ["dbt"])
