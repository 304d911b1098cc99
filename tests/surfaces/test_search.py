"""`search`: the JSON that programs read, the lines that people read, and numbers that add up in both."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.terminals import on_a_terminal

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("ready")


def test_json_has_the_documented_shape(run: Run) -> None:
    found = run("search", "undo the last commit", "-i", "notes", "--json").data

    assert {"query", "mode", "hits", "timings_ms", "degraded", "warnings", "cache"} <= found.keys()
    assert (found["query"], found["mode"], found["degraded"]) == ("undo the last commit", "hybrid", False)
    shape = {"rank", "score", "source", "document", "chunk_id", "page", "heading", "start", "end", "text", "trace"}
    assert all(shape <= hit.keys() for hit in found["hits"])
    assert [hit["rank"] for hit in found["hits"]] == list(range(1, len(found["hits"]) + 1))
    assert Path(found["hits"][0]["source"]).name == "git.md"
    assert found["hits"][0]["heading"] == ["Undoing things"]
    assert all(milliseconds >= 0 for milliseconds in found["timings_ms"].values())


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_every_number_of_a_trace_adds_up_to_the_score(run: Run, mode: str) -> None:
    found = run("search", "undo", "commit", "tower", "-i", "notes", "-m", mode, "--json").data

    assert found["mode"] == mode
    assert found["hits"]
    for hit in found["hits"]:
        retrievers = hit["trace"]["retrievers"]
        parts = sum(retriever["weight"] * retriever["normalized"] for retriever in retrievers)
        terms = sum(term["score"] for term in hit["trace"]["terms"])
        assert parts == pytest.approx(hit["score"], abs=1e-9)
        assert mode == "vector" or terms == pytest.approx(retrievers[0]["raw"], abs=1e-9)


def test_the_explanation_that_people_read_adds_up_too(run: Run) -> None:
    shown = run("search", "undo the last commit", "-i", "notes", "-k", "1", "--explain").out

    retrievers = re.findall(r"^ +(?:bm25|vector) +[\d–].* ([\d.]+)$", shown, re.MULTILINE)
    (score,) = re.findall(r"^ +score +([\d.]+)$", shown, re.MULTILINE)
    table = shown.split("score\n")[1].split("      total ")
    terms = re.findall(r" ([\d.]+)$", table[0], re.MULTILINE)
    (total,) = re.findall(r"^ +([\d.]+)$", table[1].splitlines()[0])
    assert sum(map(float, retrievers)) == pytest.approx(float(score), abs=2e-6)
    assert sum(map(float, terms)) == pytest.approx(float(total), abs=1e-6 * len(terms))
    assert re.search(r"^adaptive: .*bm25_max", shown, re.MULTILINE)


def test_words_need_no_quotes_around_them(run: Run) -> None:
    apart = run("search", "undo", "the", "commit", "-i", "notes", "--json").data
    together = run("search", "undo the commit", "-i", "notes", "--json").data

    assert apart["query"] == "undo the commit"
    assert apart["hits"] == together["hits"]


def test_an_exact_code_is_found(run: Run) -> None:
    found = run("search", "ERR-12345", "-i", "notes", "-m", "bm25", "--json").data

    assert [Path(hit["source"]).name for hit in found["hits"]] == ["tower.txt"]


def test_phrases_and_exclusions_act(run: Run) -> None:
    phrase = run("search", '"Eiffel tower"', "-i", "notes", "--json").data["hits"]
    without = run("search", "--", "-undo changes", "-i", "notes").code
    excluded = run("search", "-i", "notes", "--json", "--", "changes", "-softly").data["hits"]

    assert {Path(hit["source"]).name for hit in phrase} == {"tower.txt"}
    assert without == 3  # what follows -- is all query, so the default index was asked
    assert all("softly" not in hit["text"] for hit in excluded)


def test_k_is_kept_to(run: Run) -> None:
    assert len(run("search", "the", "tower", "changes", "-i", "notes", "-k", "2", "--json").data["hits"]) == 2


def test_settings_can_be_set_for_one_search(run: Run) -> None:
    rrf = run("--set", "fusion.method=rrf", "search", "undo", "-i", "notes", "--json").data
    one = run("--set", "search.k=1", "search", "undo changes", "-i", "notes", "--json").data

    assert rrf["fusion"] == "rrf"
    assert len(one["hits"]) == 1


def test_a_filter_lets_only_some_documents_through(run: Run) -> None:
    ada = run("search", "changes tower", "-i", "notes", "-f", "author=Ada", "--json").data["hits"]
    nobody = run("search", "changes tower", "-i", "notes", "-f", "author=Grace", "--json").data["hits"]

    assert {Path(hit["source"]).name for hit in ada} == {"git.md"}
    assert nobody == []


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("type in [.md, .txt] and not author = Ada", {"tower.txt"}),
        ("modified >= 2020-01-01 and size < 100 and path contains notes", {"tower.txt", "prices.csv"}),
        ("title starts with Undoing or type == .csv", {"git.md", "prices.csv"}),
        ('{"file_type": [".md", ".csv"], "date_from": "2020-01-01"}', {"git.md", "prices.csv"}),
        ("modified < 2020-01-01", set()),
    ],
)
def test_filters_for_people_and_for_programs(run: Run, condition: str, expected: set[str]) -> None:
    hits = run("search", "changes", "-i", "notes", "-m", "vector", "-f", condition, "--json").data["hits"]

    assert {Path(hit["source"]).name for hit in hits} == expected


def test_the_question_may_say_where_to_look(run: Run) -> None:
    done = run("search", "changes tower apple", "type:md,csv", "-i", "notes", "-f", "not author = Ada", "--json").data

    assert {Path(hit["source"]).name for hit in done["hits"]} == {"prices.csv"}
    assert done["query"] == "changes tower apple type:md,csv"


def test_a_filter_that_cannot_be_read_is_refused_with_its_place(run: Run) -> None:
    done = run("search", "changes", "-i", "notes", "-f", "type in [.md")

    assert done.code == 2
    assert "character 13" in " ".join(done.err.split())


def test_nothing_found_is_said_and_is_no_error(run: Run) -> None:
    done = run("search", "xylophone", "-i", "notes", "-m", "bm25")

    assert done.code == 0
    assert "Nothing found" in done.out


def test_a_pipe_gets_no_colors_and_people_get_place_and_words(run: Run) -> None:
    shown = run("search", "undo commit", "-i", "notes", "-k", "1").out

    assert "\x1b" not in shown
    assert "git.md › Undoing things" in shown
    assert "To undo the last commit" in shown
    assert re.search(r"^1 passage\. Likely answered here\.$", shown, re.MULTILINE)


def test_a_missing_model_degrades_in_the_open(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "http://127.0.0.1:9/v1#none&dimensions=8")
    made = run("index", "create", "far", "--json")
    hybrid = run("search", "tower", "-i", "far", "--json")
    semantic = run("search", "tower", "-i", "far", "-m", "vector")

    assert made.code == 0
    assert hybrid.code == 0
    assert hybrid.data["degraded"]
    assert hybrid.data["mode"] == "bm25"
    assert semantic.code == 8


def test_sources_below_the_current_folder_are_shown_from_there(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    run("sync", ".", "-i", "here")
    shown = run("search", "tower", "-i", "here", "-m", "bm25").out
    assert "tower.txt" in shown
    assert str(notes) not in shown
    assert str(notes) not in run("ls", "-i", "here").out


def numbers(shown: str, front: str) -> list[float]:
    """Give the last number of each line that begins so."""
    return [float(one) for one in re.findall(rf"^ +{front}.* ([\d.]+)$", shown, re.MULTILINE)]


EVERYTHING_AT_ONCE = [
    *("--set", r"""boost={"patterns": ["ERR-\\d+"], "rules": {"author == 'Ada'": 0.25}, "stage": "both"}"""),
    *("--set", "metadata_boost=beta:0.3", "--set", "rerank.weight=0.4"),
]
BOOST = r"boost_[a-z]+: .* ([\d.]+) +([×÷])([\d.]+)\n +\+([\d.]+) +([\d.]+)$"


@pytest.mark.parametrize("form", ["adaptive", "convex", "rrf", "weighted_sum", "additive", "dbsf"])
def test_with_boosts_reranking_and_fields_the_explanation_adds_up_with_a_pencil(run: Run, form: str) -> None:
    words = ["search", "undo ERR-12345 tower", "-i", "notes", "--rerank", "word-overlap"]
    shown = run(*EVERYTHING_AT_ONCE, "--set", f"fusion.method={form}", *words, "--explain").out
    hits = re.split(r"^ {0,2}\d+ [█▏▎▍▌▋▊▉ ]{8} ", shown, flags=re.MULTILINE)[1:]

    assert hits
    for hit in hits:
        fused, score = numbers(hit, "fused "), numbers(hit, "score ")
        assert sum(numbers(hit, "(?:bm25|vector) ")) == pytest.approx(fused[0], abs=2e-6)
        assert sum(numbers(hit, "as (?:fused|read) ")) == pytest.approx(numbers(hit, "reranked ")[0], abs=2e-6)
        kept = numbers(hit, "as it was ")[0] + numbers(hit, "fields: ")[0]
        assert kept == pytest.approx(numbers(hit, "metadata_boost ")[0], abs=2e-6)
        assert numbers(hit, "metadata_boost ") == score
        for before, sign, factor, bonus, after in re.findall(BOOST, hit, re.MULTILINE):
            lifted = float(before) * float(factor) if sign == "×" else float(before) / float(factor)
            assert lifted + float(bonus) == pytest.approx(float(after), abs=2e-6)
    assert len(re.findall(BOOST, shown, re.MULTILINE)) == 4  # two passages, before the reranker and after it
    assert "boost_fused: ERR-12345" in shown
    assert "boost_reranked: author" in shown


def test_every_stage_is_shown_with_what_it_was_given_and_left(run: Run) -> None:
    words = ["search", "undo the last commit", "-i", "notes", "--rerank", "word-overlap"]
    result = run(*words, "--json").data
    shown = run(*words, "--explain").out

    table = re.findall(r"^([a-z0-9]+) +(\d+) +(\d+) +[\d.]+(?:$|  )", shown.split("stage ")[1], re.MULTILINE)
    assert [(name, int(given), int(left)) for name, given, left in table] == [
        (one["name"], one["candidates_in"], one["candidates_out"]) for one in result["stages"]
    ]


def test_neighbors_stand_around_the_passage(run: Run, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "parts").mkdir(exist_ok=True)
        (tmp_path / "parts" / f"{number}.md").write_text(
            "\n\n".join(
                f"# Part {part}\n\n" + f"The {'needle' if part == 1 else 'hay'} {part}. " * 40 for part in range(3)
            )
        )
    run("--set", "chunk.size=64", "sync", tmp_path / "parts", "-i", "parts")
    alone = run("search", "needle", "-i", "parts", "-k", "1").out
    beside = run("search", "needle", "-i", "parts", "-k", "1", "--window", "1")
    data = run("search", "needle", "-i", "parts", "-k", "1", "--window", "1", "--json").data

    assert "┆" not in alone
    assert "┆" in beside.out
    assert 1 <= len(data["hits"][0]["context"]) <= 2


def test_one_plain_line_stands_below_and_statistics_only_where_they_are_asked_for(run: Run) -> None:
    found = run("search", "undo the last commit", "-i", "notes").out
    absent = run("search", "quantum chromodynamics lectures", "-i", "notes").out
    explained = run("search", "quantum chromodynamics lectures", "-i", "notes", "--explain").out
    chance = run("search", "quantum chromodynamics lectures", "-i", "notes", "--json").data["p_answerable"]

    assert found.splitlines()[-2:] == ["", "3 passages. Likely answered here."]
    assert absent.splitlines()[-2:] == ["", "3 passages. Probably not in your documents."]
    assert not re.search(r" ms\b|0\.\d\d,|fitted on", found + absent)
    assert re.search(r"^hybrid in [\d.]+ ms$", explained, re.MULTILINE)
    assert f"Chance of an answer {chance:.2f}, fitted on other collections" in explained
    assert explained.splitlines()[-1] == "3 passages. Probably not in your documents."
    assert chance < 0.4


def test_words_of_the_question_are_marked_and_no_others(start: Run, tmp_path: Path) -> None:
    """Feedback adds thirteen terms to this question, `changes` and `stash` among them."""
    shown = on_a_terminal(
        tmp_path, {**os.environ, "TERM": "xterm-256color"}, "search", "undo the last commit", "-i", "notes"
    )
    added = start("search", "undo the last commit", "-i", "notes", "--json").data["hits"][0]["trace"]["terms"]

    assert set(re.findall(r"\x1b\[1;33m(.*?)\x1b\[0m", shown)) == {"Undoing", "undo", "last", "commit"}
    assert {"chang", "stash"} <= {term["term"] for term in added}
    assert "changes" in shown


def test_an_explanation_shows_whole_words_and_those_of_feedback_apart(run: Run) -> None:
    shown = run("search", "undo the last commit", "-i", "notes", "-k", "1", "--explain").out
    table = shown.split("score\n", 1)[1].split("      total ", 1)[0]
    asked, added = table.split("added by prf")

    def words(rows: str) -> list[str]:
        return re.findall(r"^ +(\S+) +\d+ +[\d.]+ ", rows, re.MULTILINE)

    assert words(asked) == ["undo", "last", "commit"]
    assert {"changes", "stashing", "things", "brings", "aside"} <= set(words(added))
    assert not {"chang", "thing", "asid", "bring"} & {*words(asked), *words(added)}


def test_a_profile_may_be_named_before_the_command_or_after_it(run: Run) -> None:
    before = run("--profile", "fast", "search", "undo", "-i", "notes", "--json").data
    after = run("search", "undo", "-i", "notes", "--profile", "fast", "--json").data

    assert before["profile"] == after["profile"] == "fast"
    assert before["hits"] == after["hits"]
    assert "vector, fast" in run("search", "undo", "-i", "notes", "--profile", "fast", "--explain").out


def test_several_indexes_are_searched_as_one_and_a_broken_one_is_told_of(run: Run, notes: Path) -> None:
    run("sync", notes / "tower.txt", "-i", "other")
    both = run("search", "tower", "-i", "notes", "-i", "other", "--json").data
    shown = run("search", "tower", "-i", "notes", "-i", "other").out
    broken = run("search", "tower", "-i", "notes", "-i", "absent")
    neither = run("search", "tower", "-i", "nobody", "-i", "absent")

    assert {hit["collection"] for hit in both["hits"]} == {"notes", "other"}
    assert re.search(r"^ +1 .* (notes|other): .*tower\.txt", shown, re.MULTILINE)
    assert broken.code == 0
    assert "Warning: absent: index unavailable" in broken.out
    assert neither.code == 3


def test_a_follow_up_question_is_read_with_what_was_said_before(run: Run, tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text(
        '{"role": "user", "text": "Where is the Eiffel tower?"}\n\n{"role": "assistant", "text": "In Paris."}\n'
    )
    words = ["search", "and how tall is it?", "-i", "notes", "-m", "bm25"]
    with_history = run(*words, "--history", turns, "--json")
    turns.write_text('{"role": "system", "text": "x"}\n')
    refused = run(*words, "--history", turns)

    assert with_history.code == 0
    assert with_history.data["queries"][1:]
    assert refused.code == 2
    assert "line 1" in refused.err
    assert run(*words, "--history", tmp_path / "absent").code == 3
