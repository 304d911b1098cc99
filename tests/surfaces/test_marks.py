"""Marks of Markdown in what documents say: drawn on a terminal, as they are written in a pipe and in JSON."""

import json
import os
import re
from pathlib import Path

import pytest

from support.terminals import on_a_terminal
from surfaces.conftest import Run

ASKED = ("--set", "answer.min_answerability=0", "ask", "-i", "kettles", "How fast does the kettle boil one litre?")
WRITTEN = (
    "The `kettle --fast` boils **one litre** in *two* minutes, see [the manual](https://shop.example/x), not 2 * 3 * 4."
)
SHOWN = "The kettle --fast boils one litre in two minutes, see the manual, not 2 * 3 * 4."
HARMFUL = "\x9b31m\x90q\x7f\u202e\u2028"
PAINT = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture
def kettles(run: Run, tmp_path: Path) -> Path:
    """A folder with the same sentence in Markdown and as plain text."""
    folder = tmp_path / "kettles"
    folder.mkdir()
    (folder / "kettle.md").write_text(f"# Kettles\n\n{WRITTEN}\n")
    assert run("sync", folder, "-i", "kettles").code == 0
    return folder


def shown(folder: Path, *words: str) -> str:
    surroundings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    return on_a_terminal(folder, surroundings, *words).partition("\r\x1b[K")[2].rpartition("\r\x1b[K")[2]


@pytest.mark.usefixtures("kettles")
def test_a_pipe_and_json_get_an_answer_as_it_is_written(run: Run) -> None:
    assert run(*ASKED).out.startswith(
        "The `kettle --fast` boils **one litre** in *two* minutes, see the manual (https:"
    )
    answer = run(*ASKED, "--json").data
    assert answer["citations"][0]["quote"] == WRITTEN
    assert "`kettle --fast` boils **one litre**" in answer["text"]


def test_a_terminal_draws_them(kettles: Path) -> None:
    for way in ([], ["--stream"]):
        drawn = shown(kettles, *ASKED, *way)
        assert "\x1b[36mkettle --fast\x1b[0m boils \x1b[1mone litre\x1b[0m in \x1b[3mtwo\x1b[0m minutes" in drawn
        bare = " ".join(PAINT.sub("", drawn).split())
        assert SHOWN in bare  # what is cited
        assert bare.startswith(SHOWN.replace("manual", "manual (https://shop.example/x)"))  # as answers hold addresses


def test_a_plain_text_has_none(run: Run, kettles: Path) -> None:
    (kettles / "kettle.md").rename(kettles / "kettle.txt")
    assert run("sync", kettles, "-i", "kettles").code == 0

    assert "`kettle --fast` boils **one litre** in *two* minutes" in " ".join(
        PAINT.sub("", shown(kettles, *ASKED)).split()
    )


def test_a_hit_shows_its_words_without_marks(kettles: Path) -> None:
    found = on_a_terminal(kettles, {**os.environ, "TERM": "xterm-256color"}, "search", "-i", "kettles", "fast kettle")

    assert "kettle --fast boils one litre" in " ".join(PAINT.sub("", found).split())
    assert "`" not in found


def test_a_document_acts_on_no_terminal_through_its_marks(run: Run, kettles: Path) -> None:
    (kettles / "kettle.md").write_text(f"# Kettles\n\n{WRITTEN[:-1]} **a{HARMFUL}b** `c{HARMFUL}d` [e{HARMFUL}](f).\n")
    assert run("sync", kettles, "-i", "kettles").code == 0
    drawn = shown(kettles, *ASKED)

    assert "\\u202e" in drawn
    assert not set(HARMFUL.replace("31m", "").replace("q", "")) & set(PAINT.sub("", drawn))
    assert HARMFUL in json.dumps(run(*ASKED, "--json").data["citations"], ensure_ascii=False)


def test_a_block_between_fences_comes_whole_with_the_sentence_that_introduces_it(run: Run, kettles: Path) -> None:
    block = "```sh\nsamovar empty\nsamovar vinegar all\n```"
    (kettles / "samovar.md").write_text(
        f"# Samovars\n\nTo descale the samovar, run these:\n\n{block}\n\nIt is brass.\n"
    )
    assert run("sync", kettles, "-i", "kettles").code == 0
    asked = (*ASKED[:-1], "How do I descale the samovar?")

    assert f"To descale the samovar, run these:\n{block} [1]" in run(*asked).out
    drawn = shown(kettles, *asked)
    assert "\x1b[36msamovar vinegar all" in drawn
    assert "```" not in drawn.partition("[1]")[0]
