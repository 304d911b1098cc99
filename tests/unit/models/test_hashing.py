"""The embedder without a model: the same everywhere, and near where words are shared."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder, pieces_of

PRINT_HASH = """
import hashlib
from twofold.models.embedders.hashing import HashingEmbedder
vectors = HashingEmbedder(64).embed_passages(["The quick brown fox", "", "Straße \\u00e9"])
print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""


def test_vectors_are_the_same_in_every_process() -> None:
    expected = HashingEmbedder(64).embed_passages(["The quick brown fox", "", "Straße é"])
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_HASH], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == hashlib.sha256(expected.tobytes()).hexdigest()


@given(st.lists(st.text(), max_size=5), st.integers(8, 300))
def test_any_text_has_a_unit_vector(texts: list[str], dimensions: int) -> None:
    vectors = HashingEmbedder(dimensions).embed_passages(texts)

    assert vectors.shape == (len(texts), dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


@given(st.text(), st.text())
def test_company_changes_nothing_at_all(text: str, other: str) -> None:
    embedder = HashingEmbedder()

    assert np.array_equal(embedder.embed_passages([text])[0], embedder.embed_passages([other, text, other])[1])


def test_case_and_width_do_not_matter() -> None:
    plain, shouted, wide = HashingEmbedder().embed_queries(["error code", "ERROR CODE", "\uff45rror\u3000\uff43ode"])

    assert np.array_equal(plain, shouted)
    assert np.array_equal(plain, wide)


def test_shared_pieces_of_words_bring_texts_together() -> None:
    embedder = HashingEmbedder(2048)
    same, related, other = embedder.embed_passages(["indexing documents", "indexed document", "purple weather"])

    assert same @ related > 0.25
    assert abs(same @ other) < 0.1


def test_pieces_are_marked_at_the_ends_of_a_word() -> None:
    assert pieces_of("to") == ["⟨to", "to⟩", "⟨to⟩"]
    assert pieces_of("a") == ["⟨a⟩"]


def test_tokens_are_words() -> None:
    assert HashingEmbedder().count_tokens(["", "one, two; ERR-12345!"]) == [0, 4]


@pytest.mark.parametrize("dimensions", [-1, 0, 7, 65_537])
def test_senseless_dimensions_are_refused(dimensions: int) -> None:
    with pytest.raises(InvalidInputError, match="Choose 8 to 65536"):
        HashingEmbedder(dimensions)
