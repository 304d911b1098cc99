"""Checklist item 82: hit rate, MRR and precision as `eval` reports them, the latency of stages, and counts."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from twofold import Index
from twofold.cli.app import application

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command where the index `birds` holds ten documents of one length, ranked 1 to 10 for `heron`."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    with Index("birds") as index:
        for rank in range(1, 11):
            index.add(" ".join(["heron"] * (11 - rank) + ["finch"] * rank), source=f"{rank}.txt")

    def invoke(*words: object) -> Result:
        return CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")

    return invoke


def measured(run: Run, folder: Path, relevant: Sequence[Sequence[int]], *metrics: str) -> dict[str, float]:
    """Measure questions whose relevant documents stand at these ranks."""
    path = folder / "judged.jsonl"
    lines = [
        {"query": "heron" + "?" * number, "relevant": [f"{rank}.txt" for rank in ranks]}
        for number, ranks in enumerate(relevant, 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    named = [word for name in metrics for word in ("--metric", name)]
    done = run("eval", "--qrels", path, "-i", "birds", "-m", "bm25", "--json", *named)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    return {figure["metric"]: figure["interval"]["mean"] for figure in row["figures"]}


def test_mrr_of_ranks_one_three_and_five_is_0_51(run: Run, tmp_path: Path) -> None:
    """(1 + 1/3 + 1/5) / 3 = 0.5111."""
    (mrr,) = measured(run, tmp_path, [[1], [3], [5]], "mrr@10").values()

    assert mrr == pytest.approx(0.5111, abs=5e-5)
    assert f"{mrr:.2f}" == "0.51"


def test_precision_with_three_of_five_relevant_is_0_6(run: Run, tmp_path: Path) -> None:
    assert measured(run, tmp_path, [[1, 3, 5, 9]], "p@5") == {"P@5": pytest.approx(0.6)}


def test_hit_rate_is_one_or_nothing_for_a_query_and_averaged_over_queries(run: Run, tmp_path: Path) -> None:
    """Of ranks 1, 5, 6 and 9 two are among the first five, one is the first; two relevant ones count once."""
    assert measured(run, tmp_path, [[1], [5], [6], [9]], "hitrate@5", "hitrate@1") == {
        "hit rate@5": 0.5,
        "hit rate@1": 0.25,
    }
    assert measured(run, tmp_path, [[1, 2]], "hitrate@5") == {"hit rate@5": 1.0}


def test_every_stage_has_its_latency_and_together_they_are_no_more_than_the_total(run: Run) -> None:
    found = json.loads(run("search", "heron", "-i", "birds", "--json").stdout)
    timings = found["timings_ms"]

    assert {"embed", "fetch", "total"} <= timings.keys()
    assert 0 < sum(value for name, value in timings.items() if name != "total") <= timings["total"]


def test_counts_say_how_many_there_were_before_and_after(run: Run) -> None:
    """Ten passages are fused; a filter after the fusion leaves three; two are asked for."""
    late = ["--set", "search.filter_stage=post"]
    words = [*late, "search", "heron", "-i", "birds", "-k", "2", "-f", "source in [1.txt, 2.txt, 3.txt]", "--json"]
    counts = json.loads(run(*words).stdout)["counts"]

    assert counts == {"retrieved": 10, "after_filter": 3, "returned": 2, "total": 3}
