"""Checklist item 82: the hit rate by the answer's text, as its definition has it: does any of the top k contain it?"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from twofold import Index
from twofold.cli.app import application
from twofold.evaluation.answer_text import holds_answer, normalized

Run = Callable[..., Result]
TAILS = {
    1: "It lives in the reed bed.",
    2: "It sleeps on one leg.",
    3: "It weighs 1.2 kg!",
    4: "It was seen in room 1308.",
    5: "It nests near ERR-12345.",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command where the index `birds` holds five documents, the first of which says `heron` most often.

    All are of the same length, so BM25 ranks them 1 to 5 for `heron`, for `otter` and for `eagle`.
    """
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    with Index("birds") as index:
        for rank, tail in TAILS.items():
            names = " ".join(["heron otter eagle"] * (6 - rank) + ["finch crane robin"] * rank)
            index.add(f"{names}. {tail}", source=f"{rank}.txt")

    def invoke(*words: object) -> Result:
        return CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")

    return invoke


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def figures(done: Result) -> dict[str, float]:
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    return {figure["metric"]: figure["interval"]["mean"] for figure in row["figures"]}


def test_answers_at_ranks_1_3_and_5(run: Run, tmp_path: Path) -> None:
    """MRR (1 + 1/3 + 1/5) / 3 = 0.5111; hit rate@1 1/3, @3 2/3, @5 1; P@5 1/5 for each question."""
    answers = written(
        tmp_path / "answers.jsonl",
        {"query": "heron", "answers": ["nowhere", "The Reed-Bed"]},
        {"_id": "q2", "text": "otter", "answer": "1.2 KG"},
        {"query": "eagle", "answers": "err 12345"},
    )
    named = [word for name in ("mrr@5", "hitrate@1", "hitrate@3", "hitrate@5", "p@5") for word in ("--metric", name)]

    found = figures(run("eval", "--answers", answers, "-i", "birds", "-m", "bm25", "--json", *named))

    assert found == {
        "MRR@5": pytest.approx(0.5111, abs=1e-4),
        "hit rate@1": pytest.approx(1 / 3),
        "hit rate@3": pytest.approx(2 / 3),
        "hit rate@5": 1.0,
        "P@5": pytest.approx(0.2),
    }


def test_an_answer_that_stands_nowhere_is_a_miss_and_counts(run: Run, tmp_path: Path) -> None:
    """One of two questions is answered, at rank 2: hit rate@5 .5, MRR@10 (1/2 + 0) / 2 = .25, P@5 (1/5) / 2 = .1."""
    path = tmp_path / "answers.csv"
    path.write_text('query,answer\nheron,on one leg\notter,308\notter,"the moon, at night"\n')

    found = figures(run("eval", "--answers", path, "-i", "birds", "-m", "bm25", "--json"))

    assert found == {"hit rate@1": 0.0, "hit rate@5": 0.5, "hit rate@10": 0.5, "MRR@10": 0.25, "P@5": 0.1}


def test_a_judged_folder_needs_no_judgements_where_answers_judge(run: Run, tmp_path: Path) -> None:
    """Two documents, one question: the answer is in the one that BM25 ranks first."""
    folder = tmp_path / "small"
    folder.mkdir()
    written(
        folder / "corpus.jsonl",
        {"_id": "a", "title": "", "text": "The tower is 330 metres high, the tower of Paris."},
        {"_id": "b", "title": "", "text": "A bridge is long, and it spans a river near the tower."},
    )
    written(folder / "queries.jsonl", {"_id": "q1", "text": "how high is the tower", "answers": ["330 metres"]})

    found = run("eval", folder, "--answers", folder / "queries.jsonl", "-m", "bm25", "--baseline", "settings")

    assert found.exit_code == 0, found.output
    assert "small: 2 documents, 1 question" in found.stdout.replace("queries: ", "small: ")
    assert "hit rate@1" in found.stdout


def test_what_answers_cannot_tell_is_refused(run: Run, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", {"query": "heron", "answers": ["reed"]})
    empty = written(tmp_path / "empty.jsonl", {"query": "heron", "answers": ["?!"]})

    for words in (
        ("--answers", answers, "--metric", "ndcg@10"),
        ("--answers", answers, "--fail-if", "recall@10 < 0.5"),
        ("--answers", answers, "--qrels", answers),
        ("--answers", answers, "--from-run", answers),
    ):
        assert run("eval", "-i", "birds", *words).exit_code == 2
    assert run("eval", "-i", "birds", "--answers", tmp_path / "missing.jsonl").exit_code == 3
    refused = run("eval", "-i", "birds", "--answers", empty)
    assert (refused.exit_code, "empty.jsonl line 1" in refused.stderr) == (9, True)


@pytest.mark.parametrize(
    ("text", "answer", "holds"),
    [
        ("They gave up 308 points.", "308", True),
        ("Room 1308 is free.", "308", False),
        ("It weighs 1.2 kg.", "1", False),
        ("It weighs 1.2 kg.", "2 kg", False),
        ("In STRASSE 5", "straße 5", True),
        ("Kawann\nShort led with 11 sacks.", "Kawann Short", True),
        ("Shortly after", "short", False),
        ("他在北京大学学习", "北京大学", True),
        ("共308个", "308", True),
        ("iPhone手机很贵", "手机", True),
    ],
)
def test_an_answer_stands_as_whole_words(text: str, answer: str, *, holds: bool) -> None:
    assert holds_answer(text, [normalized(answer)]) is holds
