"""The kernels in C, their numpy twin and a plain loop agree bit for bit, whatever the postings."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from twofold import _kernels_numpy, _kernels_text
from twofold import kernels as exported_kernels
from twofold._kernels_numpy_vectors import codes_at, codes_reaching
from twofold.kernels import NOWHERE
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.phrases import squeeze, stands_in
from twofold.vectors.scan import exact_scores

K1 = 1.2
BLOCK = 16_384  # the C code scores so many slots together; what goes wrong goes wrong at its edges


@pytest.fixture(scope="module", params=["c", "numpy"])
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return _kernels_numpy
    built: ModuleType = pytest.importorskip(
        "twofold._kernels", reason="the kernels were not built", exc_type=ImportError
    )
    return built


class Question(NamedTuple):
    """The arrays that `bm25_top` takes."""

    slots: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]
    norms: NDArray[np.float64]


@st.composite
def questions(draw: st.DrawFn) -> Question:
    count = draw(st.one_of(st.integers(1, 40), st.sampled_from([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 17])))
    shares = draw(st.lists(st.sampled_from([0.0, 0.001, 0.1, 0.6, 1.0]), max_size=5))
    spread = draw(st.integers(1, 4))  # few different values make many ties
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    held = [np.flatnonzero(random.random(count) < share).astype(np.uint32) for share in shares]
    ends = np.cumsum([len(slots) for slots in held], dtype=np.int64)
    return Question(
        slots=np.concatenate([np.empty(0, np.uint32), *held]),
        frequencies=random.integers(1, spread + 1, int(ends[-1]) if shares else 0).astype(np.uint16),
        starts=ends - np.array([len(slots) for slots in held], dtype=np.int64),
        ends=ends,
        weights=random.integers(1, spread + 1, len(shares)) / 7.0,
        norms=(K1 * random.integers(1, spread + 1, count) / 3.0).astype(np.float64),
    )


def plain_scores(question: Question) -> Mapping[int, float]:
    """BM25 as the formula is written, a posting at a time."""
    scores: dict[int, float] = {}
    terms = zip(question.starts.tolist(), question.ends.tolist(), question.weights.tolist(), strict=True)
    for start, end, weight in terms:
        for slot, often in zip(
            question.slots[start:end].tolist(), question.frequencies[start:end].tolist(), strict=True
        ):
            added = weight * (often * (K1 + 1.0) / (often + float(question.norms[slot])))
            scores[slot] = scores.get(slot, 0.0) + added
    return scores


def best_by_bm25(kernels: ModuleType, question: Sequence[Any], allowed: Any, k: int) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the slots and scores of the best of one segment, whose keys are its slots."""
    slots, often, starts, ends, weights, norms, k1 = question
    keys = np.arange(np.size(norms), dtype=np.int64)
    _, scores, _, found = kernels.bm25_top(((slots, often, starts, ends, norms, allowed, keys),), weights, k1, k)
    return found, scores


@given(question=questions(), k=st.integers(1, 60), cut=st.floats(0, 1))
def test_a_segment_in_two_finds_what_it_finds_whole(
    kernels: ModuleType, question: Question, k: int, cut: float
) -> None:
    count = len(question.norms)
    middle = int(cut * count)
    keys = np.arange(count, dtype=np.int64) * 7 - 3
    parts = []
    for first, beyond in ((0, middle), (middle, count)):
        runs = [
            (question.slots[start:end], question.frequencies[start:end])
            for start, end in zip(question.starts, question.ends, strict=True)
        ]
        within = [(slots >= first) & (slots < beyond) for slots, _ in runs]
        held = [
            (slots[there] - np.uint32(first), often[there]) for (slots, often), there in zip(runs, within, strict=True)
        ]
        ends = np.cumsum([len(slots) for slots, _ in held], dtype=np.int64)
        parts.append(
            (
                np.concatenate([np.empty(0, np.uint32), *(slots for slots, _ in held)]).astype(np.uint32),
                np.concatenate([np.empty(0, np.uint16), *(often for _, often in held)]),
                ends - np.array([len(slots) for slots, _ in held], dtype=np.int64),
                ends,
                question.norms[first:beyond].copy(),
                None,
                keys[first:beyond].copy(),
            )
        )
    whole = (*question[:4], question.norms, None, keys)

    found, scores, places, slots = kernels.bm25_top(tuple(parts), question.weights, K1, k)
    expected = kernels.bm25_top((whole,), question.weights, K1, k)

    assert (found.tolist(), scores.tolist()) == (expected[0].tolist(), expected[1].tolist())
    assert [parts[part][6][slot] for part, slot in zip(places.tolist(), slots.tolist(), strict=True)] == found.tolist()


def masks(count: int, seed: int, share: float | None) -> NDArray[np.uint8] | None:
    return None if share is None else (np.random.default_rng(seed).random(count) < share).astype(np.uint8)


@given(
    question=questions(),
    k=st.sampled_from([1, 2, 10, 1000, 10**6]),
    share=st.sampled_from([None, 0.0, 0.3, 1.0]),
    seed=st.integers(0, 99),
)
def test_the_best_by_bm25_are_those_of_a_plain_loop_to_the_last_bit_and_ties_go_to_the_smaller_key(
    kernels: ModuleType, question: Question, k: int, share: float | None, seed: int
) -> None:
    allowed = masks(len(question.norms), seed, share)
    expected = {s: v for s, v in plain_scores(question).items() if allowed is None or allowed[s]}
    best = sorted(expected.items(), key=lambda one: (-one[1], one[0]))[:k]

    slots, scores = best_by_bm25(kernels, (*question, K1), allowed, k)

    assert (slots.dtype, scores.dtype) == (np.uint32, np.float64)
    assert list(zip(slots.tolist(), scores.tolist(), strict=True)) == best


@given(question=questions(), seed=st.integers(0, 99))
def test_chosen_slots_hold_and_score_what_the_postings_say(kernels: ModuleType, question: Question, seed: int) -> None:
    slots, often, starts, ends, weights, norms = question
    drawn = np.random.default_rng(seed)
    wanted = drawn.integers(0, len(norms), 30).astype(np.uint32)
    forward = kernels.turn_over(np.append(starts, ends[-1:] if len(ends) else 0), slots, often, len(norms))
    order = drawn.permutation(len(starts))  # of the question's terms
    places = order.astype(np.uint32)
    held = [
        dict(zip(slots[start:end].tolist(), often[start:end].tolist(), strict=True))
        for start, end in zip(starts, ends, strict=True)
    ]

    found = kernels.occurrences(*forward, places, wanted)
    scores = kernels.bm25_at(*forward, places, weights[order], norms, K1, wanted)

    assert found.dtype == np.uint16
    assert found.tolist() == [[held[term].get(slot, 0) for term in order] for slot in wanted.tolist()]
    plain = plain_scores(question._replace(starts=starts[order], ends=ends[order], weights=weights[order]))
    assert scores.tolist() == [plain.get(slot, 0.0) for slot in wanted.tolist()]
    rebuilt = _kernels_numpy.turn_over(np.append(starts, ends[-1:] if len(ends) else 0), slots, often, len(norms))
    assert [one.tobytes() for one in forward] == [one.tobytes() for one in rebuilt]


@given(seed=st.integers(0, 2**32 - 1), terms=st.sampled_from([1, 63, 64, 65, 200]))
def test_a_question_of_many_terms_is_scored_term_by_term(kernels: ModuleType, seed: int, terms: int) -> None:
    random = np.random.default_rng(seed)
    held = [np.flatnonzero(random.random(300) < 0.2).astype(np.uint32) for _ in range(20)]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in held])]).astype(np.int64)
    numbers = np.concatenate(held)
    often = random.integers(1, 9, len(numbers)).astype(np.uint16)
    places = random.permutation(300)[:terms].astype(np.uint32)
    weights, norms = random.normal(size=terms), random.random(20) + 0.1
    wanted = random.integers(0, 20, 12).astype(np.uint32)

    scores = kernels.bm25_at(offsets, numbers, often, places, weights, norms, K1, wanted)

    for slot, score in zip(wanted.tolist(), scores.tolist(), strict=True):
        start, end = int(offsets[slot]), int(offsets[slot + 1])
        counts = dict(zip(numbers[start:end].tolist(), often[start:end].tolist(), strict=True))
        expected = 0.0
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            if place in counts:
                expected += weight * (counts[place] * (K1 + 1.0) / (counts[place] + norms[slot].item()))
        assert score == expected


@given(
    values=st.lists(st.floats(width=32, allow_nan=True), max_size=70),
    k=st.integers(1, 80),
    share=st.sampled_from([None, 0.0, 0.5]),
    seed=st.integers(0, 99),
)
def test_the_top_scores_are_those_of_a_sort_with_all_ties(
    kernels: ModuleType, values: list[float], k: int, share: float | None, seed: int
) -> None:
    scores = np.array(values, dtype=np.float32)
    allowed = masks(len(scores), seed, share)
    open_to = [i for i, v in enumerate(scores) if not np.isnan(v) and (allowed is None or allowed[i])]
    kth = sorted((float(scores[i]) for i in open_to), reverse=True)[:k][-1:]

    found = kernels.top_scores(scores, allowed, k)

    assert found.dtype == np.uint32
    assert found.tolist() == [i for i in open_to if [float(scores[i])] >= kth]


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 3000), levels=st.sampled_from([2, 50, 10**6]))
def test_many_scores_are_cut_as_by_the_twin(kernels: ModuleType, seed: int, k: int, levels: int) -> None:
    scores = (np.random.default_rng(seed).integers(-levels, levels, 20_000) / 3).astype(np.float32)
    kth = np.sort(scores)[-k]

    assert np.array_equal(kernels.top_scores(scores, None, k), np.flatnonzero(scores >= kth))


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(0, 40),
    width=st.sampled_from([1, 3, 17, 64, 384, 1023, 1024, 2050]),
    extreme=st.booleans(),
)
def test_dot_products_of_codes_are_exact(
    kernels: ModuleType,
    seed: int,
    rows: int,
    width: int,
    extreme: bool,  # noqa: FBT001
) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(-128, -126 if extreme else 128, (rows, width)).astype(np.int8)
    query = random.integers(-128, -126 if extreme else 128, width).astype(np.int8)

    found = kernels.dots(query, codes)

    assert found.dtype == np.int32
    assert found.tolist() == (codes.astype(np.int64) @ query.astype(np.int64)).tolist()


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 40),
    width=st.one_of(st.integers(1, 70), st.sampled_from([256, 257, 300, 384, 511, 512, 513, 1024])),
    scale=st.sampled_from([1, 1e-6]),
)
def test_cosines_of_some_rows_are_the_true_scores(
    kernels: ModuleType,
    seed: int,
    rows: int,
    width: int,
    scale: float,  # 1e-6 makes float16's subnormal numbers
) -> None:
    random = np.random.default_rng(seed)
    vectors = (random.standard_normal((rows, width)) * scale).astype(np.float16)
    query = random.standard_normal(width).astype(np.float32)
    slots = random.integers(0, rows, 12).astype(np.uint32)

    found = kernels.cosines(query.astype(np.float64), vectors, slots)

    assert found.tobytes() == exact_scores(query, vectors[slots]).tobytes()


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300))
def test_marks_are_set_as_by_a_loop(kernels: ModuleType, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    slots = np.flatnonzero(random.random(count) < 0.5).astype(np.uint32)
    start, end = sorted(random.integers(0, len(slots) + 1, 2).tolist())
    marks = (random.random(count) < 0.3).astype(np.uint8)
    before = marks.copy()

    kernels.mark(slots, start, end, marks)
    held = set(slots[start:end].tolist())
    assert marks.tolist() == [1 if s in held else int(v) for s, v in enumerate(before)]


@given(
    seed=st.integers(0, 2**32 - 1),
    parts=st.integers(0, 3),
    passages=st.integers(0, 40),
    dead=st.sampled_from([None, 0.3]),
    with_table=st.booleans(),
)
def test_terms_are_counted_as_by_a_loop_over_their_passages(
    kernels: ModuleType,
    seed: int,
    parts: int,
    passages: int,
    dead: float | None,
    with_table: bool,  # noqa: FBT001
) -> None:
    random = np.random.default_rng(seed)
    asked = [*random.permutation(60)[:20].tolist(), NOWHERE]
    holding = dict.fromkeys(asked, 0)
    arrays, expected = [], []
    for _ in range(parts):
        terms = np.flatnonzero(random.random(50) < 0.5).astype(np.uint32)
        held = [np.flatnonzero(random.random(passages) < 0.4).astype(np.uint32) for _ in terms]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in held])]).astype(np.int64)
        live = None if dead is None else (random.random(passages) >= dead).astype(np.uint8)
        table = np.full(52, NOWHERE, dtype=np.uint32)
        table[terms] = np.arange(len(terms))
        slots = np.concatenate([np.empty(0, np.uint32), *held])
        arrays.append((terms, table if with_table else None, offsets, slots, live))
        places = [terms.tolist().index(one) if one in terms else NOWHERE for one in asked]
        expected.append((places, [(offsets[at], offsets[at + 1]) if at != NOWHERE else (0, 0) for at in places]))
        for number, own in zip(terms.tolist(), held, strict=True):
            if number in holding:
                holding[number] += sum(live is None or live[slot] != 0 for slot in own.tolist())

    counted, found = kernels.count_terms(np.array(asked, dtype=np.uint32), tuple(arrays))

    assert counted.tolist() == [holding[one] for one in asked]
    assert [(places.tolist(), list(zip(starts, ends, strict=True))) for places, starts, ends in found] == expected


@given(data=st.binary(min_size=0, max_size=400), count=st.integers(0, 50), k=st.integers(1, 5))
def test_damaged_postings_are_refused_and_harm_nothing(kernels: ModuleType, data: bytes, count: int, k: int) -> None:
    slots = np.frombuffer(data[: len(data) // 4 * 4], dtype=np.uint32) % np.uint32(64)
    often = np.ones(len(slots), dtype=np.uint16)
    ends = np.array([len(slots)], dtype=np.int64)
    sound = bool(np.all(slots[1:] > slots[:-1])) and (not len(slots) or int(slots.max()) < count)
    norms = np.ones(count)
    question = (slots, often, np.zeros(1, np.int64), ends, np.ones(1), norms, K1)

    if sound:
        assert best_by_bm25(kernels, question, None, k)[0].tolist() == slots[:k].tolist()  # all tie
    else:
        with pytest.raises(ValueError, match="slot"):
            best_by_bm25(kernels, question, None, k)
    offsets = np.array([0, len(slots)], dtype=np.int64)
    if sound:
        assert len(kernels.turn_over(offsets, slots, often, count)[1]) == len(slots)
    elif len(slots) and int(slots.max()) >= count:
        with pytest.raises(ValueError, match="out of range"):
            kernels.turn_over(offsets, slots, often, count)


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 40), width=st.sampled_from([1, 17, 384]))
def test_dot_products_of_chosen_rows_are_those_of_all(seed: int, rows: int, width: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(-128, 128, (rows, width)).astype(np.int8)
    scales = random.random(rows).astype(np.float32)
    slots = random.integers(0, rows, 2_500).astype(np.uint32)

    found = codes_at(codes[0], codes, scales, 0.1, slots)

    plain = (codes.astype(np.int64) @ codes[0].astype(np.int64)).astype(np.float32) * (scales * np.float32(0.1))
    assert found.dtype == np.float32
    assert found.tolist() == plain[slots].tolist()
    with pytest.raises(ValueError, match="out of range"):
        codes_at(codes[0], codes, scales, 0.1, np.array([rows], dtype=np.uint32))
    with pytest.raises(ValueError, match="scales"):
        codes_at(codes[0], codes, scales[1:], 0.1, slots)


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 70),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    least=st.sampled_from([-1.0, 0.5, 0.9, 3.0, float("nan")]),
)
def test_rows_that_may_reach_a_score_are_those_of_a_loop(seed: int, count: int, share: float, least: float) -> None:
    random = np.random.default_rng(seed)
    scales = random.random(count).astype(np.float32)
    codes = random.integers(-128, 128, (count, 3)).astype(np.int8)
    query = np.array([3, -100, 7], dtype=np.int8)
    step = np.float32(0.0001)
    asked = np.flatnonzero(random.random(count) < share).astype(np.uint32)
    plain = (codes.astype(np.int64) @ query.astype(np.int64)).astype(np.float32) * (scales * step)

    most = plain + np.float32(0.5) * np.sqrt(scales * scales + step * step)

    slots, bounds = codes_reaching(query, codes, scales, 0.0001, asked, least, 0.5)

    assert [slots.dtype.name, bounds.dtype.name] == ["uint32", "float32"]
    assert slots.tolist() == [slot for slot in asked.tolist() if most[slot] >= np.float32(least)]
    assert bounds.tolist() == most[slots].tolist()
    with pytest.raises(ValueError, match="scales"):
        codes_reaching(query, codes, np.zeros(count + 1, np.float32), 0.1, asked, least, 0.5)


@given(passages=st.integers(1, 10**12), shares=st.lists(st.floats(0, 1), max_size=40))
def test_idfs_are_those_of_the_formula(kernels: ModuleType, passages: int, shares: list[float]) -> None:
    holding = [int(passages * share) for share in shares]

    found = kernels.idfs(passages, np.array(holding, dtype=np.int64))

    assert found.dtype == np.float64
    assert found.tolist() == [inverse_document_frequency(passages, one) for one in holding]


def test_stretches_are_between_two_offsets_and_empty_for_a_term_that_is_nowhere(kernels: ModuleType) -> None:
    offsets = np.array([0, 2, 2, 7], dtype=np.int64)

    starts, ends = kernels.stretches(offsets, np.array([2, NOWHERE, 0, 1], dtype=np.uint32))

    assert (starts.tolist(), ends.tolist()) == ([2, 0, 0, 2], [7, 0, 2, 2])
    with pytest.raises(ValueError, match="outside"):
        kernels.stretches(offsets, np.array([3], dtype=np.uint32))
    with pytest.raises(ValueError, match="offsets"):
        kernels.stretches(offsets.astype(np.int32), np.array([0], dtype=np.uint32))


FOLDED = st.text(alphabet="ab0_.:- '漢か가é\u0301٣ก", max_size=30).map(squeeze)


@given(texts=st.lists(FOLDED, max_size=8), phrase=FOLDED.filter(bool), seed=st.integers(0, 99))
def test_a_phrase_is_marked_where_it_stands_and_left_open_only_where_more_than_ascii_decides(
    kernels: ModuleType, texts: list[str], phrase: str, seed: int
) -> None:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    joined = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    rescored_count = masks(len(texts), seed, 0.8)
    assert rescored_count is not None

    found = kernels.phrase_marks(joined, offsets, rescored_count, np.frombuffer(phrase.encode(), dtype=np.uint8))

    assert found.dtype == np.uint8
    for text, mark, wanted in zip(texts, found.tolist(), rescored_count.tolist(), strict=True):
        expected = bool(wanted) and stands_in(phrase, text)
        assert mark == expected if mark < 2 else (wanted and phrase in text and not f"{phrase}{text}".isascii())


@given(text=st.text(alphabet="ab ", max_size=300).map(squeeze), start=st.integers(0, 200), size=st.integers(1, 70))
def test_a_phrase_is_found_wherever_it_begins(kernels: ModuleType, text: str, start: int, size: int) -> None:
    phrase = squeeze(text[start : start + size]) or "a"
    arrays = [np.frombuffer(one.encode(), dtype=np.uint8) for one in (text, phrase)]
    offsets = np.array([0, len(text)], dtype=np.int64)

    found = kernels.phrase_marks(arrays[0], offsets, np.ones(1, np.uint8), arrays[1])

    assert found.tolist() == [int(stands_in(phrase, text))]


@pytest.mark.parametrize("offsets", [[0, 9], [-1, 3], [3, 1]])
def test_texts_that_lead_out_are_refused(kernels: ModuleType, offsets: list[int]) -> None:
    text = np.frombuffer(b"abcd", dtype=np.uint8)
    with pytest.raises(ValueError, match="outside"):
        kernels.phrase_marks(text, np.array(offsets, dtype=np.int64), np.ones(1, np.uint8), text)
    with pytest.raises(ValueError, match="empty"):
        kernels.phrase_marks(text, np.array([0, 4], dtype=np.int64), np.ones(1, np.uint8), text[:0])


def test_words_border_on_every_character_that_the_kernels_take_for_free() -> None:
    for first, last in ((0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x3041, 0x3096), (0x30A1, 0x30FA)):
        assert all(
            stands_in("a", f"a{chr(code)}") and stands_in("a", f"{chr(code)}a") for code in range(first, last + 1)
        )


WORDS = st.lists(
    st.one_of(
        st.text(alphabet="abz\u00e9\u6c34", max_size=7).map(str.encode),
        st.sampled_from([b"", b"a" * 65, b"\xff", b"a\xc3", "\u6c34".encode() * 64]),
    ),
    max_size=12,
)


@given(words=WORDS, word=st.text(alphabet="abz\u00e9\u6c34", max_size=7), most=st.integers(0, 2))
def test_words_are_as_far_as_a_table_of_edits_says(words: list[bytes], word: str, most: int) -> None:
    texts = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.array([0, *accumulate(map(len, words))], dtype=np.int64)
    asked = np.frombuffer(word.encode(), dtype=np.uint8)
    found = []
    for one in (exported_kernels, _kernels_text):
        kinds = one.letter_kinds(texts, offsets)
        assert kinds.tolist() == _kernels_text.letter_kinds(texts, offsets).tolist()
        found.append(one.edit_distances(texts, offsets, kinds, asked, most).tolist())

    read = [held.decode(errors="replace") for held in words]
    sound = [len(held) <= 64 and held.encode() == text for held, text in zip(read, words, strict=True)]
    edits = [edits_between(word, held) if good else 255 for held, good in zip(read, sound, strict=True)]
    assert found[0] == found[1] == [one if one <= most else 255 for one in edits]


TEXTS = st.lists(
    st.one_of(
        st.text(alphabet="aB1_-.' \n\u00e9\u6c34", max_size=40).map(str.encode),
        st.sampled_from([b"a" * 96, b"a" * 97, b"-a--b.", b"\xff-a", b"", b"a" * 300 + b"-b"]),
    ),
    max_size=12,
)


@given(texts=TEXTS)
def test_words_are_counted_as_splitting_counts_them(texts: list[bytes]) -> None:
    joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
    offsets = np.array([0, *accumulate(map(len, texts))], dtype=np.int64)
    expected: Counter[bytes] = Counter()
    for run in (run.strip(b"-.'") for text in texts for run in re.split(rb"[^\w\-.'\x80-\xff]+", text)):
        joined_words = run.isascii() and re.search(rb"[-.']", run)
        parts = [*re.split(rb"[-.']+", run), run] if joined_words else [run]
        expected.update(part for part in parts if 0 < len(part) <= 96)

    for one in (exported_kernels, _kernels_text):
        words, bounds, counts = one.count_words(joined, offsets, lambda run: [run])
        held = [words[start:end].tobytes() for start, end in pairwise(bounds.tolist())]
        assert held == sorted(expected)
        assert dict(zip(held, counts.tolist(), strict=True)) == dict(expected)


def test_more_words_than_a_table_begins_with_are_all_counted() -> None:
    words = [f"w{number:x}".encode() for number in range(20_000)]
    texts = np.frombuffer(b" ".join([*words, *words[:7]]), dtype=np.uint8)
    found, bounds, counts = exported_kernels.count_words(texts, np.array([0, len(texts)]), lambda run: [run])

    held = [found[start:end].tobytes() for start, end in pairwise(bounds.tolist())]
    assert held == sorted(words)
    assert [held[place] for place in np.flatnonzero(counts == 2).tolist()] == sorted(words[:7])


def edits_between(first: str, second: str) -> int:
    """Count insertions, deletions, substitutions and swaps of neighbors by the recursive definition."""
    known: dict[tuple[int, int], int] = {}
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            ways = [max(i, j)] if not min(i, j) else []
            if i and j:
                ways += [
                    known[i - 1, j] + 1,
                    known[i, j - 1] + 1,
                    known[i - 1, j - 1] + (first[i - 1] != second[j - 1]),
                ]
            if min(i, j) > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
                ways.append(known[i - 2, j - 2] + 1)
            known[i, j] = min(ways)
    return known[len(first), len(second)]


@pytest.mark.parametrize("offsets", [[], [0, 9], [-1, 1], [1, 0]])
def test_words_that_lead_out_are_refused(offsets: list[int]) -> None:
    texts, bounds = np.zeros(3, np.uint8), np.array(offsets, dtype=np.int64)
    for one in (exported_kernels, _kernels_text):
        with pytest.raises(ValueError, match=r"offsets|outside"):
            one.letter_kinds(texts, bounds)
        with pytest.raises(ValueError, match=r"offsets|outside"):
            one.count_words(texts, bounds, lambda run: [run])
    with pytest.raises(ValueError, match=r"kinds|hashes"):
        exported_kernels.edit_distances(texts, np.array([0, 1]), np.zeros(2, np.uint64), texts, 1)
