"""Passages that were shown are remembered as they were read, and never shown after they have changed."""

from pathlib import Path

from twofold import Index


def test_a_passage_that_changed_is_shown_as_it_is_now(tmp_path: Path) -> None:
    with Index(tmp_path / "notes", overrides={"embedder": "hashing"}, create=True) as index:
        index.add("Bears eat honey.", source="bears", title="Old")
        index.add("Bees make honey.", source="bees", title="Bees")
        shown = [{(hit.title, hit.text) for hit in index.search("honey").hits} for _ in range(2)]

        index.add("Honey, honey: bears eat it.", source="bears", title="New")
        after = {(hit.title, hit.text) for hit in index.search("honey").hits}
        index.delete("bees")
        last = {(hit.title, hit.text) for hit in index.search("honey").hits}

    assert shown == [{("Old", "Bears eat honey."), ("Bees", "Bees make honey.")}] * 2
    assert after == {("New", "Honey, honey: bears eat it."), ("Bees", "Bees make honey.")}
    assert last == {("New", "Honey, honey: bears eat it.")}
