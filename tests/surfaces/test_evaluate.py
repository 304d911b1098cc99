"""`eval`: what is measured on what, one way of searching against another, and the exit code for a build."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from support.http_server import Answered, Asked, serving
from twofold.answer.certainty import READER
from twofold.config.load import load_settings
from twofold.domain.errors import ModelError
from twofold.domain.types import Document, Vectors, document_id
from twofold.evaluation.confidence import confidence_of
from twofold.evaluation.runs import read_run
from twofold.factory.indexing import indexing_components
from twofold.index import Index
from twofold.indexing.prepare import prepare
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.stores.local.store import LocalStore

Run = Callable[..., Any]

TEXTS = {
    "undo": "Reset softly to undo a commit and keep what you changed.",
    "stash": "A stash puts changes aside and brings them back later.",
    "tower": "The Eiffel tower stands in Paris, by the river.",
    "bridge": "The bridge over the river was built of iron.",
    "fruit": "Apples and pears are kept cool and dry.",
    "bread": "Bread is baked of flour, water and salt.",
    "code": "The error ERR-12345 means that the disk is full.",
    "disk": "Make room on a full disk by deleting old snapshots.",
}
QUESTIONS = {
    "q1": ("undo the last commit", {"undo": 2}),
    "q2": ("bring changes back", {"stash": 2, "undo": 1}),
    "q3": ("what stands by the river", {"tower": 1, "bridge": 1}),
    "q4": ("keeping pears", {"fruit": 1}),
    "q5": ("what does ERR-12345 mean", {"code": 2, "disk": 1}),
    "q6": ('-salt "and" water', {"bread": 1}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A judged collection in BEIR's layout."""
    made = tmp_path / "small"
    (made / "qrels").mkdir(parents=True)
    (made / "corpus.jsonl").write_text("".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in TEXTS.items()))
    (made / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, (text, _) in QUESTIONS.items())
    )
    rows = [
        f"{name}\t{document}\t{grade}\n" for name, (_, some) in QUESTIONS.items() for document, grade in some.items()
    ]
    (made / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return made


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Questions about the index `notes`, as a person writes them."""
    path = tmp_path / "questions.csv"
    path.write_text(
        "query,relevant\nundo the last commit,git.md\nwhere is the tower,tower.txt\nprice of pears,prices.csv\n"
    )
    return path


def rows_of(done: Any) -> dict[str, dict[str, float]]:  # noqa: ANN401  # whatever JSON holds
    return {
        row["name"]: {figure["metric"]: figure["interval"]["mean"] for figure in row["figures"]}
        for row in done.data["rows"]
    }


def test_a_comparison_has_the_documented_shape(run: Run, folder: Path) -> None:
    done = run(
        "eval", folder, "--variant", "bm25", "--variant", "fusion.vector_weight=0.9", "--baseline", "settings", "--json"
    )

    assert done.code == 0
    assert list(rows_of(done)) == ["bm25", "fusion.vector_weight=0.9", "settings"]
    assert [(one["name"], one["baseline"]) for one in done.data["comparisons"]] == [
        ("bm25", "settings"),
        ("fusion.vector_weight=0.9", "settings"),
    ]
    assert done.data["failed"] == []
    for comparison in done.data["comparisons"]:
        for one in comparison["differences"]:
            mean = rows_of(done)[comparison["name"]][one["metric"]] - rows_of(done)["settings"][one["metric"]]
            assert one["interval"]["mean"] == pytest.approx(mean)
            assert one["interval"]["low"] <= one["interval"]["mean"] <= one["interval"]["high"]
            assert 0 < one["p"] <= one["p_holm"] <= 1
            assert one["better"] + one["same"] + one["worse"] == len(QUESTIONS)
        assert all(change["value"] > change["baseline"] for change in comparison["gained"])
        assert all(change["value"] < change["baseline"] for change in comparison["lost"])


def test_the_same_configuration_twice_is_said_to_be_the_same(run: Run, folder: Path) -> None:
    done = run("eval", folder, "--variant", "bm25", "--baseline", "bm25", "--json")
    shown = run("eval", folder, "-m", "bm25", "--baseline", "search.mode=bm25").out

    assert list(rows_of(done)) == ["bm25", "bm25 (2)"]
    (comparison,) = done.data["comparisons"]
    assert all((one["p"], one["interval"]["mean"]) == (1.0, 0.0) for one in comparison["differences"])
    assert "the two are the same on every question" in shown
    assert "Gained" not in shown


def test_without_a_word_on_it_the_three_modes_stand_side_by_side(run: Run, folder: Path) -> None:
    assert list(rows_of(run("eval", folder, "--json"))) == ["hybrid", "bm25", "vector"]
    assert list(rows_of(run("--set", "search.mode=bm25", "eval", folder, "--baseline", "hybrid", "--json"))) == [
        "settings",
        "hybrid",
    ]


def test_settings_of_searching_change_what_is_found(run: Run, folder: Path) -> None:
    done = run(
        "eval", folder, "--variant", "vector", "--variant", "fusion.vector_weight=1", "--variant", "bm25", "--json"
    )
    rows = rows_of(done)

    assert rows["vector"] == rows["fusion.vector_weight=1"] != rows["bm25"]


def test_reranking_is_measured_like_any_setting(run: Run, folder: Path) -> None:
    done = run("eval", folder, "--variant", "bm25,rerank.model=word-overlap,rerank.weight=1", "--baseline", "bm25")
    gone = run("eval", folder, "--variant", "bm25, rerank.model=http://127.0.0.1:9/v1#none")

    assert done.code == 0
    assert "bm25, rerank.model=word-overlap, rerank.weight=1 against bm25" in done.out
    assert (gone.code, gone.out) == (8, "")
    assert "This cannot be measured: rerank unavailable" in gone.err


def test_metrics_are_chosen_by_name_in_any_case(run: Run, folder: Path) -> None:
    done = run("eval", folder, "-m", "bm25", "--metric", "MAP@3", "--metric", "ndcg@1", "--metric", "map@3", "--json")

    assert list(rows_of(done)["bm25"]) == ["MAP@3", "nDCG@1"]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("ndcg@10 < 0.01", 0),
        ("NDCG@10 < 1.1", 11),
        ("recall@3 > 0.01", 11),
        ("ndcg@10 < -0.99", 0),
        ("ndcg@10 < +0.99", 11),
    ],
)
def test_a_condition_that_holds_fails_the_build(run: Run, folder: Path, condition: str, code: int) -> None:
    words = ("eval", folder, "-m", "bm25", "--baseline", "vector", "--fail-if", condition)
    done, shown = run(*words, "--json"), run(*words)

    assert (done.code, shown.code) == (code, code)
    assert [one["name"] for one in done.data["failed"]] == (["bm25"] if code else [])
    assert ("Failed: " + condition in shown.out) == bool(code)


def test_a_run_is_written_reads_back_and_scores_the_same(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.trec"
    made = run("eval", folder, "-m", "hybrid", "--run", out, "--json")
    read = run("eval", folder, "--from-run", out, "--json")
    compared = run("eval", folder, "-m", "hybrid", "--baseline", f"run:{out}", "--json")

    assert rows_of(read)["out.trec"] == rows_of(made)["hybrid"]
    assert read.data["rows"][0]["ms_per_query"] is None
    assert compared.data["comparisons"][0]["differences"][0]["p"] == 1.0
    assert read_run(out)["q1"][0].document == "undo"


def test_several_runs_get_files_of_their_own(run: Run, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "theirs.trec"
    other.write_text("".join(f"{name} Q0 undo 1 1.0 theirs\n" for name in QUESTIONS))
    shown = run(
        "eval",
        folder,
        "-m",
        "bm25",
        "--variant",
        "search.bm25=k1:2 b:0, prf=top_k:0",
        "--from-run",
        other,
        "--run",
        tmp_path / "o.trec",
    ).out

    assert {path.name for path in tmp_path.glob("o.*")} == {"o.bm25.trec", "o.search.bm25=k1-2-b-0-prf=top_k-0.trec"}
    assert shown.count("Wrote ") == 2


def test_a_run_made_elsewhere_needs_no_index(run: Run, tmp_path: Path) -> None:
    qrels, queries, found = (tmp_path / name for name in ("x.qrels", "x.tsv", "x.trec"))
    qrels.write_text("1 0 a 1\n2 0 b 1\n3 0 c 1\n")
    queries.write_text("1\tone\n2\ttwo\n3\tthree\n")
    found.write_text("1 Q0 a 1 9 t\n2 Q0 x 1 9 t\n2 Q0 y 2 8 t\n2 Q0 b 3 7 t\n3 Q0 v 1 9 t\n")

    done = run("eval", "--qrels", qrels, "--queries", queries, "--from-run", found, "--metric", "mrr@10", "--json")

    assert rows_of(done)["x.trec"]["MRR@10"] == pytest.approx((1 + 1 / 3) / 3)


@pytest.mark.usefixtures("ready")
def test_an_index_of_ones_own_is_judged_by_pairs(run: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.trec"
    done = run("eval", "--qrels", pairs, "-i", "notes", "-m", "bm25", "--baseline", "hybrid", "--json")
    kept = run("eval", "--qrels", pairs, "-i", "notes", "-m", "bm25", "--run", out)
    again = run("eval", "--qrels", pairs, "--from-run", out, "--json")

    assert (done.data["documents"], done.data["queries"], done.data["missing_documents"]) == (3, 3, 0)
    assert rows_of(done)["bm25"]["nDCG@10"] == 1.0
    assert kept.code == 0
    assert rows_of(again)["mine.trec"] == rows_of(done)["bm25"]


def test_documents_whose_names_are_no_words_pass_through_a_run(run: Run, tmp_path: Path) -> None:
    for number, name in enumerate(("my notes.md", "other notes.md")):
        (tmp_path / name).write_text(f"Everything about the tower, part {number}.\n")
        assert run("add", tmp_path / name, "-i", "spaces").code == 0
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "out.trec"
    pairs.write_text('{"query": "the tower, part 0", "relevant": "my notes.md"}\n')

    made = run("eval", "--qrels", pairs, "-i", "spaces", "-m", "bm25", "--run", out, "--json")
    read = run("eval", "--qrels", pairs, "--from-run", out, "--json")

    assert "my%20notes.md" in out.read_text()
    assert rows_of(read)["out.trec"] == rows_of(made)["bm25"]
    assert rows_of(made)["bm25"]["MRR@10"] > 0


@pytest.mark.usefixtures("ready")
def test_a_judged_document_that_is_not_there_is_named(run: Run, pairs: Path) -> None:
    pairs.write_text(pairs.read_text() + "what is new,news.md\n")
    shown = run("eval", "--qrels", pairs, "-i", "notes", "-m", "bm25").out

    assert "1 judgement of documents that are not there." in shown
    assert "  news.md" in shown


def test_a_model_that_cannot_be_had_is_no_measurement(run: Run, folder: Path) -> None:
    done = run("eval", folder, "--embedder", "http://127.0.0.1:9/v1#none&dimensions=8", "-m", "hybrid")

    assert (done.code, done.out) == (8, "")
    assert "127.0.0.1" in done.err


REFUSED = {
    "neither": ([], 2, "needs a judged folder or --qrels"),
    "both": (["{folder}", "--qrels", "{pairs}"], 2, "not both"),
    "queries of a folder": (["{folder}", "--queries", "{pairs}"], 2, "go with --qrels"),
    "an unknown mode": (["{folder}", "--variant", "faster"], 2, "no mode or profile 'faster'"),
    "an unknown setting": (["{folder}", "--variant", "search.k2=1"], 2, "search.k2"),
    "a bad value": (["{folder}", "--variant", "search.bm25=b:7"], 2, "search.bm25.b"),
    "a setting of storing": (["{folder}", "--baseline", "chunk.size=64"], 2, "chunk.size cannot be compared"),
    "a metric": (["{folder}", "--metric", "bleu@4"], 2, "no metric"),
    "a condition": (["{folder}", "--fail-if", "ndcg"], 2, "no condition"),
    "a difference to nothing": (["{folder}", "--fail-if", "ndcg@10 < -0.1"], 2, "nothing is compared"),
    "a run that is not there": (["{folder}", "--from-run", "gone.trec"], 3, "gone.trec"),
    "a run of other questions": (["{folder}", "--from-run", "{other}"], 2, "none of the judged queries"),
    "a folder for the run": (["{folder}", "--run", "{folder}/gone/out.trec"], 3, "gone"),
    "a folder as the run": (["{folder}", "-m", "bm25", "--run", "{folder}"], 2, "cannot be written"),
    "an index that is not there": (["--qrels", "{pairs}", "-i", "nowhere", "-m", "bm25"], 3, "nowhere"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_measured_is_refused_in_one_line(
    name: str, run: Run, folder: Path, pairs: Path, tmp_path: Path
) -> None:
    words, code, says = REFUSED[name]
    other = tmp_path / "other.trec"
    other.write_text("x9 Q0 a 1 1.0 t\n")

    done = run("eval", *(word.format(folder=folder, pairs=pairs, other=other) for word in words))

    assert done.code == code, done.err
    assert says in done.err
    assert done.out == ""


def test_the_screen_is_the_one_that_was_approved(
    run: Run, folder: Path, request: pytest.FixtureRequest, repository: Path
) -> None:
    golden = repository / "tests" / "golden" / "eval-baseline.txt"
    done = run("eval", folder, "-m", "bm25", "--baseline", "fusion.method=rrf", "--fail-if", "ndcg@10 < -0.02")
    shown = re.sub(r"^ms/query.*$", "ms/query ...", done.out, flags=re.MULTILINE)

    if request.config.getoption("--rewrite-golden"):
        golden.write_text(shown, encoding="utf-8")

    assert shown == golden.read_text(encoding="utf-8")


def test_words_alone_are_measured_without_embedding_a_passage(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = run("eval", folder, "-m", "bm25", "--json")

    def refuse(_self: HashingEmbedder, texts: Sequence[str]) -> Vectors:
        raise ModelError(f"{len(texts)} texts were to be embedded.", "Do not.")

    monkeypatch.setattr(HashingEmbedder, "embed_passages", refuse)
    again = run("eval", folder, "-m", "bm25", "--json")

    assert run("eval", folder, "-m", "hybrid").code == 8
    assert rows_of(again) == rows_of(asked)


@pytest.mark.usefixtures("ready")
def test_the_report_says_how_many_passages_had_no_vector(run: Run, pairs: Path) -> None:
    """Two documents of a passage each are stored with their words alone, as a sync that was killed leaves them."""
    assert "no vector" not in run("eval", "--qrels", pairs, "-i", "notes", "-m", "hybrid").out
    settings = load_settings(overrides={"embedder": "hashing"})
    store = LocalStore(Path(os.environ["TWOFOLD_HOME"]) / "indexes" / "notes", create=False)
    late = [Document(document_id(name), name, f"All about {name}.") for name in ("plums", "figs")]
    store.upsert(prepare(late, indexing_components(store, settings, None), None, lambda _: None, embed=False).entries)
    store.close()

    shown = run("eval", "--qrels", pairs, "-i", "notes", "-m", "hybrid")
    assert "2 passages had no vector yet: only BM25 found them. `twofold sync` embeds them." in shown.out
    assert run("eval", "--qrels", pairs, "-i", "notes", "-m", "hybrid", "--json").data["pending"] == 2


@pytest.mark.usefixtures("ready")
def test_what_an_index_keeps_for_itself_holds_when_it_is_measured(run: Run, pairs: Path) -> None:
    with Index("notes") as index:
        index.set_settings({"search.mode": "bm25"})

    done = run("eval", "--qrels", pairs, "--index", "notes", "--variant", "settings", "--baseline", "bm25", "--json")

    (comparison,) = done.data["comparisons"]
    assert comparison["gained"] == comparison["lost"] == []
    assert done.data["rows"][0]["figures"] == done.data["rows"][1]["figures"]


def test_a_junit_report_has_the_figures_and_fails_for_a_condition(run: Run, folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    conditions = ("--fail-if", "ndcg@10 < 1.1", "--fail-if", "recall@100 < 0.01")
    done = run("eval", folder, "-m", "bm25", "--baseline", "vector", *conditions, "--junit", report, "--json")
    suites = ET.fromstring(report.read_bytes())  # noqa: S314  # our own

    assert done.code == 11
    assert [(one.get("name"), one.get("failures")) for one in suites] == [("small: bm25", "1"), ("small: vector", "0")]
    cases = {one.get("name"): one for one in suites[0]}
    first = done.data["rows"][0]["figures"][0]["interval"]
    said = f"{first['mean']:.3f}, at 95 % between {first['low']:.3f} and {first['high']:.3f}, over 6 questions"
    assert cases["nDCG@10"].findtext("system-out") == said
    failure = cases["not ndcg@10 < 1.1"].find("failure")
    assert failure is not None
    assert failure.get("message") == f"ndcg@10 < 1.1 holds, at {first['mean']:.4f}"
    assert cases["not recall@100 < 0.01"].find("failure") is None
    assert run("eval", folder, "--junit", tmp_path / "no" / "report.xml").code != 0


def test_chances_are_held_against_what_was_right(run: Run, folder: Path) -> None:
    """No cross-encoder reads beside the hashing embedder, so that no answer has a chance, and that is said."""
    done = run("eval", folder, "-m", "bm25", "--confidence", "--json")
    shown = run("eval", folder, "-m", "bm25", "--confidence").out
    plain = run("eval", folder, "-m", "bm25", "--json")

    (held,) = json.loads(done.out)["confidence"]
    assert (held["name"], held["answers"], held["unknown"]) == ("bm25", 0, 6)
    assert "No answer has a chance" in shown
    assert json.loads(plain.out)["confidence"] == []


@pytest.fixture
def fond_of_undoing() -> Iterator[str]:
    """A cross-encoder that holds one sentence for the answer to everything, with a logit of 6, and no other: -6."""

    def score(asked: Asked) -> Answered:
        texts = json.loads(asked.body)["documents"]
        scores = [6.0 if "undo a commit" in text else -6.0 for text in texts]
        told = [{"index": at, "relevance_score": one} for at, one in enumerate(scores)]
        return Answered(json.dumps({"results": told}).encode())

    with serving(score) as address:
        yield f"rerank.model={address}/v1#{READER}&scale=logit"


def test_chances_that_hold_for_a_third_of_the_answers_are_too_high(
    run: Run, folder: Path, fond_of_undoing: str
) -> None:
    """-1.56 + .35 · 6 + .34 · 10 = 3.94 is a chance of .981, said of all six answers; two cite a relevant document."""
    asked = ("--set", fond_of_undoing, "eval", folder, "-m", "hybrid", "--confidence")
    (held,) = run(*asked, "--json").data["confidence"]
    shown = run(*asked).out

    assert (held["answers"], held["unknown"], held["judged_by"]) == (6, 0, "document")
    assert held["predicted"] == pytest.approx(0.9809, abs=1e-3)
    assert held["observed"] == pytest.approx(2 / 6)
    assert held["ece"] == pytest.approx(0.9809 - 2 / 6, abs=1e-3)
    assert [(one["low"], one["answers"]) for one in held["reliability"]] == [(0.9, 6)]
    assert held["risk_coverage"][-1]["risk"] == pytest.approx(4 / 6)
    assert "0.9-1.0       0.98      0.33        6  #######             |" in shown
    assert "They are too high here, beyond luck" in shown


def test_chances_are_held_against_the_text_of_answers_too(
    run: Run, folder: Path, tmp_path: Path, fond_of_undoing: str
) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("query,answer\nundo the last commit,keep what you changed\nwhere is the tower,Paris\n")
    done = run("--set", fond_of_undoing, "eval", folder, "--answers", answers, "-m", "hybrid", "--confidence", "--json")

    (held,) = done.data["confidence"]
    assert (held["judged_by"], held["answers"], held["observed"]) == ("answer", 2, 0.5)


def test_a_run_of_elsewhere_has_no_chances(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "old.trec").write_text("q1 Q0 undo 1 1.0 old\n")
    done = run("eval", folder, "--from-run", tmp_path / "old.trec", "--confidence")

    assert done.code != 0
    assert "--confidence" in done.err


def test_the_error_of_chances_is_worked_out() -> None:
    """Said .9, .9, .9 and .1; right were two of the first three and the last: 3/4 · |.9 - 2/3| + 1/4 · |.1 - 1|."""
    told = [(0.9, True), (0.9, True), (0.9, False), (0.1, True), (None, True)]
    held = confidence_of("a", told)

    assert held.ece == pytest.approx(0.75 * (0.9 - 2 / 3) + 0.25 * 0.9)
    assert [(one.low, one.answers) for one in held.reliability] == [(0.1, 1), (0.9, 3)]
    assert held.risk_coverage[-1].risk == pytest.approx(0.25)
    assert (held.answers, held.unknown) == (4, 1)
    assert held.predicted == pytest.approx((0.9 * 3 + 0.1) / 4)


def test_luck_is_what_true_chances_show() -> None:
    """One answer with a chance of .5 is right or not: |.5 - was| is .5 either way. Of 10,000 the error nearly goes."""
    assert confidence_of("a", [(0.5, True)]).ece_by_luck == pytest.approx(0.5)
    assert confidence_of("a", [(0.5, True)] * 10_000).ece_by_luck < 0.02
