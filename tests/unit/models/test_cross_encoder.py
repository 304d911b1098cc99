"""The cross-encoder: how pairs are cut, batched and put back in order; and that the real model is the card's."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support import tiny_model
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.ports import Scale
from twofold.models.catalog.entries import MS_MARCO
from twofold.models.catalog.files import folder_of, is_present
from twofold.models.catalog.types import ModelEntry, Task
from twofold.models.rerankers.cross_encoder import MAX_PAIRS, CrossEncoder

CAT = tiny_model.WORDS.index("cat")
CLS, SEP = 2, 3


class Counting:
    """A model whose logit is how many cats the passage has; it keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []

    def __call__(
        self, numbers: NDArray[np.int64], mask: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        self.given.append((numbers.copy(), mask.copy(), kinds.copy()))
        cats: NDArray[np.float32] = ((numbers == CAT) & (kinds == 1)).sum(axis=1, keepdims=True).astype(np.float32)
        return cats


def tiny(folder: Path, model: Counting, max_tokens: int = 32) -> CrossEncoder:
    files = tiny_model.contents()
    (folder / "tokenizer.json").write_bytes(files["tokenizer.json"])
    entry = tiny_model.entry({name: [] for name in files}, files, max_tokens=64)
    return CrossEncoder(replace(entry, task=Task.RERANK, scale=Scale.LOGIT), folder, max_tokens, lambda _, __: model)


def test_scores_come_in_the_order_of_the_texts(tmp_path: Path) -> None:
    texts = ["the " * (n * 5 % 13) + "cat " * (n % 4) for n in range(23)]

    assert tiny(tmp_path, Counting()).score("cat cat", texts).tolist() == [float(n % 4) for n in range(23)]


def test_few_pairs_of_like_length_run_together(tmp_path: Path) -> None:
    model = Counting()
    tiny(tmp_path, model).score("dog", ["cat " * length for length in (20, 1, 9, 20, 2, 10, 1, 21, 3, 11, 1)])

    sizes = [numbers.shape for numbers, _, _ in model.given]
    assert [rows for rows, _ in sizes] == [MAX_PAIRS, MAX_PAIRS, 1]
    assert [width for _, width in sizes] == sorted(width for _, width in sizes)
    assert sizes[0][1] == 8


def test_a_pair_is_marked_and_cut_at_its_longer_text(tmp_path: Path) -> None:
    model = Counting()
    tiny(tmp_path, model, max_tokens=16).score("dog sat", ["cat " * 400])

    ((numbers, mask, kinds),) = model.given
    assert numbers[0].tolist() == [CLS, 5, 6, SEP, *[CAT] * 11, SEP]
    assert kinds[0].tolist() == [0] * 4 + [1] * 12
    assert mask.all()


def test_padding_is_masked(tmp_path: Path) -> None:
    model = Counting()
    tiny(tmp_path, model).score("dog", ["cat"])

    ((numbers, mask, _),) = model.given
    assert numbers[0].tolist() == [CLS, 5, SEP, CAT, SEP, 0, 0, 0]
    assert mask[0].tolist() == [1] * 5 + [0] * 3


def test_a_closed_one_refuses(tmp_path: Path) -> None:
    reranker = tiny(tmp_path, Counting())
    reranker.close()

    with pytest.raises(ModelError, match="closed"):
        reranker.score("dog", ["cat"])


def test_a_damaged_tokenizer_is_noticed(tmp_path: Path) -> None:
    reranker = tiny(tmp_path, Counting())
    (tmp_path / "tokenizer.json").write_bytes(b"{}")

    with pytest.raises(ModelError, match="damaged"):
        reranker.score("dog", ["cat"])


def test_a_length_beyond_the_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="16 to 64"):
        tiny(tmp_path, Counting(), max_tokens=65)


def real(cache: Path, max_tokens: int) -> CrossEncoder:
    entry: ModelEntry = MS_MARCO
    if not is_present(entry, cache):
        pytest.skip(f"no {entry.name} in {cache}: run `twofold models pull {entry.name}`")
    return CrossEncoder(entry, folder_of(entry, cache), max_tokens)


@pytest.mark.model
@pytest.mark.parametrize("max_tokens", [128, 256, 512])
def test_the_real_model_says_what_its_card_says(real_models: Path, max_tokens: int) -> None:
    reranker = real(real_models, max_tokens)
    texts = [
        "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        "Berlin is well known for its museums.",
    ]

    raw = reranker.score("How many people live in Berlin?", texts)

    assert raw == pytest.approx([9.15, -4.32], abs=0.5)  # the weights are 8-bit integers, the card's are not
    assert reranker.relevance(raw) == pytest.approx([0.9999, 0.0131], abs=0.02)


@pytest.mark.model
def test_company_hardly_changes_the_real_models_scores(real_models: Path) -> None:
    reranker = real(real_models, 128)
    texts = [f"Berlin has {n} museums{' and parks' * (n * 7 % 23)}." for n in range(12)]
    together = reranker.score("museums in Berlin", texts)

    assert together == pytest.approx([reranker.score("museums in Berlin", [text])[0] for text in texts], abs=0.15)
