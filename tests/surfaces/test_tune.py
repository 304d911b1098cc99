"""`tune`: what questions choose, what is kept, what is refused; by judgements and by questions made from documents."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from twofold.index import Index
from twofold.ingest.document import document_of_text

Run = Callable[..., Any]

LOT = Random(7)  # noqa: S311  # no secret
NAMES = ["".join(LOT.choices("abcdefghiklmnoprstuvz", k=9)) for _ in range(48)]
"""Made-up words: each is the subject of one document, and in no other."""
THINGS = ("salt", "wool", "iron", "glass", "honey", "paper", "silk", "grain", "timber", "leather", "copper", "wax")


def story(number: int) -> str:
    random = Random(number)  # noqa: S311  # no secret
    lines = [
        f"In {1700 + number * 4 + year} the merchants took {' and '.join(random.sample(THINGS, 3))} over the river."
        for year in range(4)
    ]
    name = NAMES[number]
    return f"The {name} stands by the road. {' '.join(lines)} So the {name} is called {name} to this day."


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """An index that looks for whole words alone, and questions in which the word that matters has another ending."""
    with Index("planted") as index:
        index.add_many([document_of_text(story(at), f"{at}.txt", "", {}, None) for at in range(len(NAMES))])
        index.set_settings({"search.mode": "bm25", "search.context_window": "1"})
    path = tmp_path / "questions.jsonl"
    asked = [{"query": f"{name}wards", "relevant": f"{at}.txt"} for at, name in enumerate(NAMES)]
    path.write_text("".join(json.dumps(one) + "\n" for one in asked))
    return path


def preferences() -> dict[str, str]:
    with Index("planted") as index:
        return dict(index.get_settings())


def test_what_hides_the_answers_is_found_confirmed_applied_and_taken_back(run: Run, planted: Path) -> None:
    done = run("tune", "-i", "planted", "--qrels", planted, "--apply", "--json")

    assert done.code == 0, done.err
    tuning = done.data["tuning"]
    assert tuning["winner"]["search.mode"] in ("vector", "hybrid")
    assert tuning["confirmed"][0]["differences"][0]["p_holm"] < 0.05
    assert (tuning["choosing"], tuning["confirming"]) == (24, 24)
    assert done.data["applied"] is True
    assert preferences() == {"search.context_window": "1", **tuning["winner"]}

    again = run("tune", "-i", "planted", "--qrels", planted, "--apply", "--json")
    assert (again.data["tuning"]["winner"], again.data["applied"]) == ({}, False)

    forgotten = run("tune", "-i", "planted", "--reset", "--json")
    assert forgotten.data == {"forgotten": tuning["winner"]}
    assert preferences() == {"search.context_window": "1"}


def test_nothing_is_changed_unless_it_is_asked_for(run: Run, planted: Path) -> None:
    before = preferences()
    done = run("tune", "-i", "planted", "--qrels", planted)

    assert preferences() == before
    assert "is better than the default" in done.out
    assert "Nothing was changed; --apply" in done.out
    assert "24 choose, 24 confirm" in done.out
    assert "is noticed\nfour times in five" in done.out


def test_questions_are_made_from_the_documents_and_their_bias_is_said(run: Run, planted: Path) -> None:
    with Index("planted") as index:
        before = [index.document(one.id) for one in index.documents()]
    done = run("tune", "-i", "planted", "--synthetic", "20", "--apply")
    with Index("planted") as index:
        assert [index.document(one.id) for one in index.documents()] == before

    assert planted.exists()
    assert done.code == 0, done.err
    assert "Made from the documents: 0 heading" in done.out
    assert "questions that you judge are worth more" in done.out
    assert "0.03 or more, with p (Holm) below 0.01" in done.out


def test_a_small_budget_is_said_to_have_cut_the_choice_short(run: Run, planted: Path) -> None:
    done = run("tune", "-i", "planted", "--qrels", planted, "--budget", "0")

    assert done.code == 0
    assert "Time ran short" in done.out
    assert "Keep the default" in done.out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "--qrels FILE or --synthetic N"),
        (["--qrels", "few.csv", "--synthetic", "30"], 2, "not both"),
        (["--synthetic", "3"], 2, "from 20"),
        (["--qrels", "few.csv"], 2, "too few"),
        (["--qrels", "none.csv"], 3, "none.csv"),
        (["--synthetic", "30"], 2, "too"),
        (["--qrels", "few.csv", "--metric", "beauty"], 2, "beauty"),
        (["--qrels", "few.csv", "-i", "nowhere"], 3, "nowhere"),
    ],
)
@pytest.mark.usefixtures("ready")
def test_what_cannot_be_tuned_by_is_refused_in_one_line(run: Run, words: list[str], code: int, says: str) -> None:
    Path("few.csv").write_text("query,relevant\nundo the last commit,git.md\n")
    done = run("tune", "-i", "notes", *words)

    assert (done.code, done.out) == (code, ""), done.err
    assert says in done.err
