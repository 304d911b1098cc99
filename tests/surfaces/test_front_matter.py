"""The YAML or TOML block at the head of a Markdown file is fields to filter by, and never text found or shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

YAML = "---\ntitle: The tide\nauthor: Ada Quillfeather\ntags: [moonstone, water]\nyear: 1999\n---\n"
TOML = '+++\ntitle = "The tide"\nauthor = "Ada Quillfeather"\ntags = ["moonstone", "water"]\nyear = 1999\n+++\n'
BODY = "# Why it rises\n\nThe moon pulls the sea, and the sea follows twice a day.\n"


@pytest.mark.parametrize("front", [YAML, TOML])
def test_front_matter_is_fields_and_no_text(run: Run, tmp_path: Path, front: str) -> None:
    (tmp_path / "tide.md").write_text(front + BODY)
    run("sync", tmp_path / "tide.md", "-i", "notes")

    shown = run("show", "-i", "notes", "tide.md", "--chunks", "--json").data
    by_words = run("search", "-i", "notes", "--mode", "bm25", "quillfeather moonstone 1999", "--json").data["hits"]
    by_field = run("search", "-i", "notes", "moon", "-f", "author = 'Ada Quillfeather' and year = 1999", "--json").data

    assert shown["document"]["title"] == "The tide"
    assert shown["document"]["text"] == BODY
    assert [one["text"] for one in shown["chunks"]] == [BODY.strip()]
    assert by_words == []
    assert [hit["text"] for hit in by_field["hits"]] == [BODY.strip()]
    assert by_field["hits"][0]["metadata"]["tags"] == ["moonstone", "water"]


def test_feedback_takes_no_term_of_the_front_matter(run: Run, tmp_path: Path) -> None:
    """The passage that is found first lends its words to the question; those of its front matter are none of them."""
    (tmp_path / "tide.md").write_text(YAML + BODY)
    (tmp_path / "stone.md").write_text("# Stones\n\nA moonstone is a gem, and gems are dear.\n")
    run("sync", tmp_path, "-i", "notes")

    found = run("search", "-i", "notes", "sea moon", "--json", "--explain").data["hits"]

    assert Path(found[0]["source"]).name == "tide.md"
    assert {one["term"] for one in found[0]["trace"]["terms"]} >= {"sea", "moon", "pull"}
    assert not {one["term"][:6] for one in found[0]["trace"]["terms"]} & {"moonst", "quillf", "1999", "author"}


def test_a_rule_between_paragraphs_is_no_front_matter(run: Run, tmp_path: Path) -> None:
    text = "---\n\nA poem that opens with a rule.\n\n---\n\nAnd closes with one.\n"
    (tmp_path / "poem.md").write_text(text)
    run("sync", tmp_path / "poem.md", "-i", "notes")

    hits = run("search", "-i", "notes", "--mode", "bm25", "opens", "--json").data["hits"]

    assert "A poem that opens with a rule." in hits[0]["text"]
