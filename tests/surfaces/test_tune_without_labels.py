"""`tune --without-labels`: a reranker judges what each weight puts first; what is kept, shown, taken back, refused."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from twofold.evaluation.label_free import choose_weight, discounted
from twofold.index import Index
from twofold.ingest.document import document_of_text

Run = Callable[..., Any]
WITH_WORDS = ("--set", "rerank.model=word-overlap")
LOT = Random(3)  # noqa: S311  # no secret
NAMES = ["".join(LOT.choices("abcdefghiklmnoprstuvz", k=6)) for _ in range(360)]


def passage(at: int) -> str:
    """Three names; near spellings of the first stand in another document, and look alike to letters alone."""
    other = NAMES[(at + 7) % len(NAMES)]
    return f"The {NAMES[at]} stands by the {NAMES[(at + 1) % len(NAMES)]}, far from {other}s and {other}ed things."


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """An index of 360 passages, and a file of thirty queries without any judgement."""
    with Index("named") as index:
        index.add_many([document_of_text(passage(at), f"{at}.txt", "", {}, None) for at in range(len(NAMES))])
        index.set_settings({"fusion.parameters": {"rrf_k": 30.0}})
    path = tmp_path / "asked.txt"
    path.write_text("".join(f"{NAMES[at]} {NAMES[at + 90]} {NAMES[at + 180]}\n" for at in range(0, 90, 3)))
    return path


def kept() -> dict[str, str]:
    with Index("named") as index:
        return dict(index.get_settings())


def test_a_weight_is_chosen_kept_with_its_evidence_explained_and_taken_back(run: Run, asked: Path) -> None:
    before = kept()
    words = ("tune", "-i", "named", "--without-labels", "--queries", asked)
    looked = run(*WITH_WORDS, *words, "--json")
    assert looked.code == 0, looked.err
    choice = looked.data["choice"]
    assert (looked.data["applied"], kept(), choice["queries"], looked.data["passages"]) == (False, before, 30, 360)
    assert 0.6 < choice["weight"] <= choice["best"]
    by_weight = {one["weight"]: one for one in choice["trials"]}
    assert by_weight[0.6]["gain"] == by_weight[0.6]["error"] == 0.0
    assert by_weight[choice["best"]]["gain"] == max(one["gain"] for one in choice["trials"])

    done = run(*WITH_WORDS, *words, "--apply")
    assert f"{choice['weight']:g}: {choice['best']:g} is best" in done.out
    assert "`twofold tune --reset` takes it back" in done.out
    assert kept()["fusion.vector_weight"] == f"{choice['weight']:g}"
    told = run("search", "-i", "named", NAMES[5], "--explain")
    assert f"vector_weight {choice['weight']:g} chosen without labels: 30 queries" in told.out
    other = run("--set", "fusion.vector_weight=0.9", "search", "-i", "named", NAMES[5], "--explain")
    assert "chosen without labels" not in other.out

    again = run(*WITH_WORDS, *words, "--json")
    assert again.data["choice"] == choice, "a weight chosen before is no default to draw back toward"
    assert run("tune", "-i", "named", "--reset").code == 0
    assert kept()["fusion.parameters"].count("30.0") == 1
    assert "evidence" not in kept()["fusion.parameters"]
    assert "fusion.vector_weight" not in kept()


def test_queries_of_the_log_are_judged_where_no_file_is_named(run: Run, asked: Path) -> None:
    queries = asked.read_text().splitlines()[:12]
    for query in queries:
        assert run("--set", "log=queries:true", "search", "-i", "named", query).code == 0
    done = run(*WITH_WORDS, "tune", "-i", "named", "--without-labels", "--json")
    assert done.code == 0, done.err
    assert done.data["choice"]["queries"] == 12


@pytest.mark.parametrize(
    ("sets", "options", "says"),
    [
        (WITH_WORDS, (), "0 queries are too few"),
        ((*WITH_WORDS, "--set", "fusion.method=rrf"), ("--queries", "asked.txt"), "fused by rrf has no weight"),
        (("--set", "offline=true", "--set", "models=none"), ("--queries", "asked.txt"), "ms-marco-MiniLM-L-12-v2"),
        (WITH_WORDS, ("--queries", "asked.txt", "--synthetic", "30"), "not both"),
        (WITH_WORDS, ("--queries", "none.txt"), "none.txt"),
        (WITH_WORDS, ("--queries", "asked.txt", "--metric", "foo"), "There is no metric 'foo'."),
        (WITH_WORDS, ("--queries", "asked.txt", "--budget", "-3"), "--budget must be at least 0, not -3."),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(
    run: Run,
    asked: Path,
    monkeypatch: pytest.MonkeyPatch,
    sets: tuple[str, ...],
    options: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(asked.parent)
    done = run(*sets, "tune", "-i", "named", "--without-labels", *options)
    assert (done.code != 0, done.out) == (True, ""), done.out
    assert says in done.err
    assert len(done.err.strip().splitlines()) <= 2


def test_an_index_of_few_passages_keeps_its_weight(run: Run, asked: Path) -> None:
    with Index("few") as index:
        index.add_many([document_of_text(passage(at), f"{at}.txt", "", {}, None) for at in range(40)])
    done = run(*WITH_WORDS, "tune", "-i", "few", "--without-labels", "--queries", asked, "--apply")
    assert (done.code, done.out) == (2, "")
    assert "40 passages are too few" in done.err
    with Index("few") as index:
        assert dict(index.get_settings()) == {}


def test_a_gain_moves_the_weight_by_how_certain_it_is() -> None:
    # 1 · 1/log2(2) + .5 · 1/log2(3) = 1.3155
    assert discounted([1.0, 0.5]) == pytest.approx(1.0 + 0.5 * 0.63093, abs=1e-4)
    # Gains .2, 0, .2, 0: mean .1, standard deviation .11547, error .057735, t² = 3, 1 - 1/3 of .2 = .1333
    choice = choose_weight([(1.0, 1.2), (2.0, 2.0), (1.0, 1.2), (0.0, 0.0)], (0.6, 0.8), 0.6)
    assert (choice.best, choice.weight, choice.changes) == (0.8, 0.73, True)
    # Gains .2, -.2, .3, -.2: mean .025, far below its error of .13: nothing moves
    unsure = choose_weight([(1.0, 1.2), (1.0, 0.8), (1.0, 1.3), (1.0, 0.8)], (0.6, 0.8), 0.6)
    assert (unsure.best, unsure.weight, unsure.changes) == (0.8, 0.6, False)


def test_a_gain_of_next_to_nothing_moves_no_weight() -> None:
    """Questions that the documents do not answer: the lists are worth .0001 and .0003, for certain."""
    choice = choose_weight([(0.0001, 0.0003)] * 12, (0.6, 0.8), 0.6)

    assert (choice.weight, choice.changes) == (0.6, False)
