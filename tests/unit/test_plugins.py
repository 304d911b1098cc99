import math
from collections.abc import Callable
from pathlib import Path

import pytest

from support.custom_parts import Breaking, Fixed, Glossary, Listed, Reversing, cut_lines, shouting
from twofold import Index, TwofoldError
from twofold.config.load import grouped
from twofold.domain.errors import InvalidInputError, MismatchError, ModelError, NotFoundError
from twofold.domain.types import Chunk, Document, Metadata
from twofold.plugins import NO_PLUGINS, CustomChunker, CustomEnricher, OpenPlugins, Plugins
from twofold.query.filter_syntax import parse_filter

TEXTS = {"cats": "The cat sat on the mat.", "dogs": "A dog ran through the garden.", "logs": "A version control log."}
WORDS: dict[str, object] = {"search.mode": "bm25", "embedder": "hashing"}

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with these entry points."""

    def write(points: str) -> None:
        folder = tmp_path / "own_parts_of_a_user-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts-of-a-user\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(str(tmp_path))

    return write


def filled(plugins: Plugins = NO_PLUGINS, /, **overrides: object) -> Index:
    said = {**WORDS, **grouped({name.replace("__", "."): value for name, value in overrides.items()})}
    index = Index(":memory:", overrides=said, plugins=plugins)
    for name, text in TEXTS.items():
        index.add(text, id=name, source=f"{name}.txt")
    return index


def found(index: Index, question: str) -> list[str]:
    return [hit.document for hit in index.search(question).hits]


def test_a_retriever_is_fused_by_rank_with_what_the_arms_found() -> None:
    with filled(Plugins(retrievers={"by heart": Listed([("dogs_chunk_0", 9.0), ("nobody_chunk_0", 8.0)])})) as index:
        result = index.search("cat")

    assert {hit.document for hit in result.hits} == {"cats", "dogs"}
    dog = next(hit for hit in result.hits if hit.document == "dogs")
    retriever = dog.trace.retriever("by heart")
    assert retriever is not None
    assert (retriever.rank, retriever.raw) == (1, 9.0)
    assert result.trace.recompute_scores() == tuple(hit.score for hit in result.hits)
    assert result.warnings == ()


def test_a_retriever_that_fails_is_gone_without_and_told_of() -> None:
    with filled(Plugins(retrievers={"broken": Breaking(), "by heart": Listed([("dogs_chunk_0", 1.0)])})) as index:
        result = index.search("cat")
        with pytest.raises(ModelError, match="'broken' failed: KeyError"):
            filled(Plugins(retrievers={"broken": Breaking()}), search__on_failure="raise").search("cat")

    assert {hit.document for hit in result.hits} == {"cats", "dogs"}
    assert len(result.warnings) == 1
    assert str(result.warnings[0]).startswith("broken unavailable: The retriever 'broken' failed: KeyError")


@pytest.mark.parametrize("score", [math.nan, math.inf, "high", None])
def test_a_retriever_with_a_score_that_is_no_number_is_gone_without(score: object) -> None:
    with filled(Plugins(retrievers={"odd": Listed([("dogs_chunk_0", score)])})) as index:  # type: ignore[list-item]
        result = index.search("cat")

    assert [hit.document for hit in result.hits] == ["cats"]
    assert "'odd'" in str(result.warnings[0])


@pytest.mark.parametrize("name", ["vector", "bm25", "fused", "query 2", "", " ", "a\nb"])
def test_a_retriever_cannot_have_the_name_of_something_else(name: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be called"):
        Plugins(retrievers={name: Listed()})


def test_a_transformer_gives_another_wording_and_one_that_fails_is_told_of() -> None:
    with filled(Plugins(transformers={"glossary": Glossary(), "broken": Breaking()})) as index:
        result = index.search("VCS")

    assert result.queries == ("VCS", "version control system")
    assert [hit.document for hit in result.hits] == ["logs"]
    assert any("'broken' failed: ConnectionResetError" in note for note in map(str, result.warnings))


def test_a_reranker_is_swapped_by_name() -> None:
    with filled(Plugins(rerankers={"mine": Reversing()}), rerank__weight=1.0) as index:
        plain, read = index.search("a the cat dog log"), index.search("a the cat dog log", rerank="mine")

    assert plain.rerank is None
    assert read.rerank is not None
    assert read.rerank.model == "reversing"
    assert [len(hit.text) for hit in read.hits] == sorted(len(hit.text) for hit in read.hits)


def test_an_own_reranker_stands_before_a_built_in_one_of_its_name_and_no_other_name_is_known() -> None:
    with filled(Plugins(rerankers={"word-overlap": Reversing()})) as index:
        named = index.search("cat", rerank="word-overlap").rerank
        assert named is not None
        assert named.model == "reversing"
        with pytest.raises(NotFoundError, match="no reranker 'nobodys'"):
            index.search("cat", rerank="nobodys")


def test_a_chunker_cuts_and_is_part_of_the_recipe(tmp_path: Path) -> None:
    own = Plugins(chunker=CustomChunker("by-line-1", cut_lines))
    with Index(tmp_path / "kb", overrides=WORDS, plugins=own) as index:
        index.add("one\n\n  two  \nthree", id="a")
        assert [chunk.text for chunk in index.chunks("a")] == ["one", "two", "three"]
    with Index(tmp_path / "kb", overrides=WORDS) as index:
        assert len(index.search("two").hits) == 1
        with pytest.raises(MismatchError):
            index.add("four", id="b")


def test_a_chunker_that_gives_what_is_not_in_the_document_is_refused_and_nothing_is_kept() -> None:
    def inventing(document: Document) -> tuple[Chunk, ...]:
        return (Chunk(document.id, 0, "made up", 0, 7),)

    def failing(document: Document) -> tuple[Chunk, ...]:
        raise RuntimeError(document.id)

    for name, cut in (("inventing", inventing), ("failing", failing)):
        with (
            Index(":memory:", overrides=WORDS, plugins=Plugins(chunker=CustomChunker(name, cut))) as index,
            pytest.raises(ModelError, match=f"'{name}'"),
        ):
            index.add("the real text", id="a")
        assert index.info().documents == 0


def test_an_enricher_gives_fields_to_filter_by() -> None:
    def length(chunk: Chunk) -> Metadata:
        return {"letters": len(chunk.text), "nothing": float("nan")}

    with filled(Plugins(enricher=CustomEnricher("length-1", length))) as index:
        short = index.search("cat dog log", filter=parse_filter("letters < 24"))
        assert {hit.document for hit in short.hits} == {"cats", "logs"}
        assert index.chunks("cats")[0].metadata == {"letters": len(TEXTS["cats"])}


def test_files_are_read_by_a_reader_that_was_passed(tmp_path: Path) -> None:
    (tmp_path / "a.shout").write_text("be quiet")
    with Index(":memory:", overrides=WORDS, plugins=Plugins(readers=(shouting(),))) as index:
        index.sync(tmp_path)
        assert index.document("a.shout").text == "BE QUIET"
        index.add_file(tmp_path / "a.shout")
        assert index.document("a.shout").media_type == "text/x-shout"


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        (Fixed([1.0, 0.0]), r"shape \(1, 2\) instead of \(1, 3\)"),
        (Fixed([2.0, 0.0, 0.0]), "length is not 1"),
        (Fixed([math.nan, 0.0, 0.0]), "length is not 1"),
        (Fixed(error=OSError("unplugged")), "OSError: unplugged"),
    ],
)
def test_an_embedder_that_breaks_its_promise_is_named(embedder: Fixed, said: str) -> None:
    with Index(":memory:", embedder=embedder) as index, pytest.raises(ModelError, match=f"'fixed'.*{said}"):
        index.add("text")
    assert embedder.closed == 0


def test_a_hybrid_search_goes_on_without_an_embedder_that_fails(tmp_path: Path) -> None:
    with Index(tmp_path / "kb", embedder=Fixed()) as index:
        index.add("The cat sat on the mat.", id="cats")
    with Index(tmp_path / "kb", embedder=Fixed(error=ValueError("no"))) as index:
        result = index.search("cat")

    assert [hit.document for hit in result.hits] == ["cats"]
    assert "'fixed' failed: ValueError: no" in " ".join(map(str, result.warnings))


def test_parts_are_found_by_name_among_entry_points(install: Install, tmp_path: Path) -> None:
    install(
        "[twofold.retrievers]\nhearted = support.custom_parts:offered\n"
        "[twofold.transformers]\nglossary = support.custom_parts:Glossary\n"
        "[twofold.rerankers]\nreversing = support.custom_parts:Reversing\n"
        "[twofold.chunkers]\nlines = support.custom_parts:lines\n"
        "[twofold.readers]\nshouts = support.custom_parts:shouting\n"
        "[twofold.embedders]\nfixed = support.custom_parts:Fixed\n"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.shout").write_text("loud\nwords")
    said: dict[str, object] = {
        "search.mode": "bm25",
        "embedder": "fixed",
        "plugins.search": ["hearted", "glossary"],
        "rerank.model": "reversing",
        "plugins.ingest": ["lines", "shouts"],
    }
    with Index(tmp_path / "kb", overrides=said) as index:
        assert not (tmp_path / "kb").exists()
        index.sync(tmp_path / "docs")
        index.add(TEXTS["cats"], id="cats")
        result = index.search("VCS words")
        assert [chunk.text for chunk in index.chunks("a.shout")] == ["LOUD", "WORDS"]
        assert {hit.document for hit in result.hits} == {"cats", index.document("a.shout").id}
        assert result.queries[1:] == ("version control system words",)
        assert result.rerank is not None
        fingerprint = index.info().fingerprint
        assert fingerprint is not None
        assert (fingerprint.embedder.name, fingerprint.chunker) == ("fixed", "own lines")
    with Index(tmp_path / "kb") as index, pytest.raises(MismatchError, match=r"embedder .* did not come from you"):
        index.add("one\ntwo", id="b")
    without = Index(tmp_path / "kb", overrides={"embedder": "fixed"})
    with without as index, pytest.raises(MismatchError, match=r"plugins\.ingest .* did not come from you"):
        index.add("one\ntwo", id="b")
    with Index(tmp_path / "kb", overrides={"embedder": "fixed", "plugins.ingest": ["lines"]}) as index:
        index.add("one\ntwo", id="b")
        assert len(index.chunks("b")) == 2


def test_what_is_merely_installed_changes_nothing(install: Install) -> None:
    install(
        "[twofold.retrievers]\nhearted = support.custom_parts:offered\n"
        "[twofold.rerankers]\nword-overlap = support.custom_parts:no\n"
    )
    with filled() as index:
        assert found(index, "dog") == ["dogs"]
        summary = index.search("dog", rerank="word-overlap").rerank
        assert summary is not None
        assert summary.model == "word-overlap"


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("plugins.search", ["nobodys"], "There is no extension 'nobodys'"),
        ("embedder", "nobodys", "There is no embedder 'nobodys'"),
        ("generator", "nobodys", "no generator 'nobodys'"),
        ("plugins.ingest", ["nobodys"], "There is no extension 'nobodys'"),
        ("plugins.ingest", ["broken"], "There is no extension 'broken'"),
        ("plugins.ingest", ["lines", "shorter"], "There are two chunkers: lines, shorter"),
        ("plugins.search", ["broken"], "'broken' failed: ModuleNotFoundError"),
        ("plugins.search", ["useless"], "'useless' has no search"),
    ],
)
def test_a_name_that_fits_nothing_is_an_error_of_its_own(
    install: Install, setting: str, value: object, said: str
) -> None:
    install(
        "[twofold.retrievers]\nbroken = no_such_module:x\nuseless = support.custom_parts:Glossary\n"
        "[twofold.chunkers]\nlines = support.custom_parts:lines\nshorter = support.custom_parts:lines\n"
    )

    with pytest.raises(TwofoldError, match=said):
        filled(NO_PLUGINS, **{setting.replace(".", "__"): value}).search("dog")


def test_two_parts_of_one_name_are_not_chosen_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, part in enumerate(("offered", "Listed")):
        folder = tmp_path / f"{number}" / f"dist{number}-1.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dist{number}\nVersion: 1\n")
        (folder / "entry_points.txt").write_text(f"[twofold.retrievers]\nmine = support.custom_parts:{part}\n")
        monkeypatch.syspath_prepend(str(tmp_path / f"{number}"))

    with pytest.raises(InvalidInputError, match="several retrievers 'mine'"):
        OpenPlugins().retrievers(["mine"])


def test_a_cached_answer_is_not_given_to_who_asks_with_another_retriever(install: Install) -> None:
    install("[twofold.retrievers]\nhearted = support.custom_parts:offered\n")
    with filled(cache__size=10) as index:
        assert found(index, "dog") == ["dogs"]
        assert found(index, "dog") == ["dogs"]
        with_own = index.search("dog", settings={"plugins.search": ["hearted"]})

    assert {hit.document for hit in with_own.hits} == {"cats", "dogs"}
    assert not with_own.cache.hit


def test_a_passed_embedder_is_not_closed_by_the_index() -> None:
    embedder = Fixed()
    with Index(":memory:", embedder=embedder) as index:
        index.add("text")

    assert embedder.closed == 0
