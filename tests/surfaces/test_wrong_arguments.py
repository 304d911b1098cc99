"""Every public call with arguments of another kind than they must be: one line and a remedy, and nothing changes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from twofold import Document, Index, MultiIndex, SearchOptions, TwofoldError, load_settings, search_multi
from twofold.models.embedders.hashing import HashingEmbedder

OTHERS: tuple[Any, ...] = (3, 1.5, True, b"x", ["x", 1], {1: 2}, object(), "a\0b", "\ud800")
TEXT = Document(id="t", source="t.txt", text="Tea.", title="")

CALLS: dict[str, Callable[[Index, Any], object]] = {
    "ask settings": lambda index, given: index.ask("tea", settings=given),
    "ask effort": lambda index, given: index.ask("tea", effort=given),
    "ask on_event": lambda index, given: index.ask("tea", on_event=given),
    "search options": lambda index, given: index.search_many(["tea"], given),
    "search results": lambda index, given: index.search_many(["tea"], SearchOptions(results=given)),
    "search history": lambda index, given: index.search_many(["tea"], SearchOptions(history=given)),
    "why_not options": lambda index, given: index.why_not("tea", "a.md", given),
    "add readers": lambda index, given: index.add("Milk.", readers=given),
    "add metadata": lambda index, given: index.add("Milk.", metadata={"field": {"nested": given}}),  # type: ignore[dict-item]
    "add_file path": lambda index, given: index.add_file(given),
    "add_file metadata": lambda index, given: index.add_file(__file__, metadata=given),
    "add_many documents": lambda index, given: index.add_many(given),
    "add_many one": lambda index, given: index.add_many([given]),
    "add_many blocks": lambda index, given: index.add_many([replace(TEXT, blocks=given)]),
    "add_many words": lambda index, given: index.add_many([replace(TEXT, words=given)]),
    "set_settings": lambda index, given: index.set_settings(given),
    "set_metadata": lambda index, given: index.set_metadata("a.md", given),
    "sync": lambda index, given: index.sync(given),
    "export": lambda index, given: index.export(given),
    "diff": lambda index, given: index.diff(given),
    "at": lambda index, given: index.at(given),
    "delete_snapshot": lambda index, given: index.delete_snapshot(given),
    "as_principals": lambda index, given: index.as_principals(given),
    "page offset": lambda index, given: index.documents_page(given if type(given) is not int else -3, 1),
    "page limit": lambda index, given: index.documents_page(0, given if type(given) is not int else -3),
    "several": lambda _, given: MultiIndex(given),
    "several options": lambda index, given: MultiIndex([index]).search("tea", given),
    "search_multi": lambda _, given: search_multi(given, "tea"),
    "settings file": lambda _, given: load_settings(config=given),
    "overrides": lambda _, given: load_settings(overrides=given),
    "plugins": lambda _, given: Index(":memory:", embedder=HashingEmbedder(), plugins=given),
    "from_export": lambda _, given: Index.from_export(given, Path(__file__).parent / "nowhere"),
}
TEXTS: dict[str, Callable[[Index, Any], object]] = {
    "add id": lambda index, given: index.add("Milk.", id=given),
    "conversation": lambda index, given: index.conversation(given),
    "delete_session": lambda index, given: index.delete_session(given),
    "page containing": lambda index, given: index.documents_page(0, 1, containing=given),
    "as_of": lambda _, given: Index(":memory:", embedder=HashingEmbedder(), as_of=given),
    "add_many title": lambda index, given: index.add_many([replace(TEXT, title=given)]),
    "add_many text": lambda index, given: index.add_many([replace(TEXT, text=given)]),
}
"""What takes a text: any text may be right there."""


@pytest.fixture(params=["in memory", "on disk"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Any:  # noqa: ANN401  # what a fixture yields
    """One document, in memory or on disk."""
    where = ":memory:" if request.param == "in memory" else tmp_path / "index"
    with Index(where, embedder=HashingEmbedder(), create=True) as made:
        made.add("Tea is served at four.", source="a.md", metadata={"year": 2024})
        yield made


@pytest.mark.parametrize("call", [*CALLS, *TEXTS])
def test_arguments_of_another_kind_are_refused_in_one_line(index: Index, call: str) -> None:
    made = CALLS.get(call) or TEXTS[call]
    before = list(index.documents())
    for given in OTHERS if call in CALLS else [one for one in OTHERS if not isinstance(one, str)]:
        with pytest.raises(TwofoldError) as caught:
            made(index, given)
        assert caught.value.message, (call, given)
        assert caught.value.hint, (call, given)
        assert "\n" not in caught.value.message
    assert list(index.documents()) == before
    assert [hit.source for hit in index.search("tea").hits] == ["a.md"]


def test_one_name_is_pinned_as_a_list_of_one_and_a_contradiction_is_refused(index: Index) -> None:
    index.add("Coffee is served at five.", source="b.md")
    index.pin("tea", "a.md", hide="b.md")
    assert index.pins() == {"tea": ("a.md", "-b.md")} or index.pins() == {"tea": ["a.md", "-b.md"]}
    with pytest.raises(TwofoldError, match=r"'a\.md' cannot be shown first and left out\. Name it once\."):
        index.pin("tea", ["a.md"], hide=["b.md", "a.md"])
    assert list(index.pins()["tea"]) == ["a.md", "-b.md"]
