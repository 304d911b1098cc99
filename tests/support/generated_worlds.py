"""Worlds drawn by lot: documents with readers and histories, who asks, and what is asked."""

from collections.abc import Sequence

from hypothesis import strategies as st

from support.worlds import Written

WORDS = ("merger", "soup", "bread", "canteen", "budget", "price", "the", "ERR-12345", "secret", "hot")
PRINCIPALS: Sequence[list[str]] = (["user:ann", "group:legal"], ["user:bob"], [])
READERS = (None, None, ("public",), ("group:legal",), ("user:bob",), ("user:ann", "user:bob"), ())
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
texts = st.lists(lines, min_size=1, max_size=3).map("\n\n".join)
histories = st.tuples(
    texts,
    st.sampled_from(READERS),
    st.sampled_from(READERS),
    st.one_of(st.just(""), st.just(""), texts),
    st.sampled_from((False, False, False, True)),
)
"""The text, who may read it, who might when a snapshot was made, its text then, and whether it was deleted."""
documents = st.lists(histories, min_size=2, max_size=7).map(
    lambda made: [Written(f"{number}.txt", *history) for number, history in enumerate(made)]
)
queries = st.lists(lines, min_size=1, max_size=3)
defaults = st.sampled_from(["public", "nobody", "group:legal"])
World = tuple[list[Written], list[str], str, list[str]]
worlds: st.SearchStrategy[World] = st.tuples(documents, st.sampled_from(PRINCIPALS), defaults, queries)
"""Documents, who asks, who may read what names no readers, and what is asked."""
