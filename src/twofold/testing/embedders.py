"""What every embedder promises, as a suite to be tried on one of your own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from twofold.domain.ports import Embedder
from twofold.indexing.prepare import count_truncated

CLOSE_PAIRS = [
    ("How do I undo the last commit?", "Undo the last commit with git reset.", "A recipe for apple pie with cinnamon."),
    ("the price of coffee rose", "coffee prices are rising", "orchestras play symphonies"),
]
HOSTILE = [
    "",
    " ",
    "\n\t",
    "a",
    "\x00",
    "nul\x00inside",
    "👩‍👩‍👧‍👦🇩🇪",
    "\ud800 a lone surrogate",
    "\u202eright to left",
    "e\u0301" * 50,
    "x" * 5_000,
    "漢字かな交じり文",
]
LONG = "the quick brown fox jumps over the lazy dog " * 2_000


class EmbedderContract:
    """Derive a class whose name begins with `Condition` from it, and give it a fixture `embedder`."""

    def test_every_text_gets_a_unit_vector_of_the_promised_width(self, embedder: Embedder) -> None:
        texts = [*HOSTILE, "An ordinary sentence, of ordinary length."]
        for vectors in (embedder.embed_passages(texts), embedder.embed_queries(texts)):
            assert vectors.shape == (len(texts), embedder.identity.dimensions)
            assert vectors.dtype == np.float32
            assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed_passages([]).shape == (0, embedder.identity.dimensions)
        assert embedder.embed_queries([]).shape == (0, embedder.identity.dimensions)
        assert list(embedder.count_tokens([])) == []

    @pytest.mark.parametrize(("query", "near", "far"), CLOSE_PAIRS)
    def test_what_is_alike_is_near(self, embedder: Embedder, query: str, near: str, far: str) -> None:
        to_near, to_far = cosines(embedder, query, [near, far])

        assert to_near > to_far + 0.05

    def test_company_changes_no_vector(self, embedder: Embedder) -> None:
        texts = ["short", "of middling length, this one is", LONG[:300], *(f"number {n} of many" for n in range(40))]
        together = embedder.embed_passages(texts)
        alone = np.concatenate([embedder.embed_passages([text]) for text in texts])

        assert (together * alone).sum(axis=1).min() > 0.999

    def test_the_order_given_is_the_order_returned(self, embedder: Embedder) -> None:
        texts = [f"{'padding ' * (n * 7 % 11)}the number is {n}" for n in range(70)]
        forward, backward = embedder.embed_passages(texts), embedder.embed_passages(texts[::-1])

        assert (forward * backward[::-1]).sum(axis=1).min() > 0.999
        assert len(np.unique(forward.round(4), axis=0)) > 60

    def test_the_same_text_gives_the_same_vector(self, embedder: Embedder) -> None:
        texts = ["once", "and once again"]

        assert np.array_equal(embedder.embed_passages(texts), embedder.embed_passages(texts))

    def test_a_text_beyond_the_models_length_is_read_from_its_beginning(self, embedder: Embedder) -> None:
        vectors = embedder.embed_passages([LONG, LONG + "and an end that nobody reads"])

        assert vectors[0] @ vectors[1] > 0.95
        cut = count_truncated(embedder, [LONG, "short"])
        assert cut == (1 if embedder.identity.max_tokens < 10_000 else 0)

    def test_tokens_are_counted_for_each_text(self, embedder: Embedder) -> None:
        nothing, some, more = embedder.count_tokens(["", "three little words", "three little words and then some more"])

        assert nothing == 0
        assert 3 <= some < more
        assert len(embedder.count_tokens(HOSTILE)) == len(HOSTILE)

    def test_callers_in_several_threads_get_their_own_vectors(self, embedder: Embedder) -> None:
        texts = [[f"caller {n} says", f"{'word ' * n}and {n} again"] for n in range(16)]
        expected = [embedder.embed_passages(own) for own in texts]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(embedder.embed_passages, texts))

        for own, other in zip(found, expected, strict=True):
            assert (own * other).sum(axis=1).min() > 0.999


def cosines(embedder: Embedder, query: str, passages: list[str]) -> list[float]:
    found = embedder.embed_passages(passages) @ embedder.embed_queries([query])[0]
    return [float(cosine) for cosine in found]
