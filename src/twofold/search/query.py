"""Understanding questions: taken apart, reworded where that was asked for, and embedded all at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import MismatchError, ModelError, TwofoldError
from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.domain.types import MAX_QUESTION_LENGTH, TermQuery, Vector
from twofold.domain.warning import StageWarning
from twofold.query.history import Turn
from twofold.query.intent import Intent, intent_of
from twofold.query.parse import Analysis, ParsedQuery, as_prose, parse
from twofold.search.components import SearchComponents
from twofold.search.degradation import RETRIEVERS, Degradation, Stage, degradation_of, without
from twofold.search.plan import SearchPlan
from twofold.search.state import Stopwatch
from twofold.search.timeouts import waited
from twofold.text.analyzer import is_about_a_code
from twofold.text.unicode_normalization import fold


def embed_together(embedder: Embedder, questions: Sequence[str]) -> tuple[Vector | None, ...]:
    """Embed the words of many questions, in the order given; None for one without words.

    The model is called once, with each text once, and not at all where there is nothing to embed. Raises ModelError.
    """
    texts = list(dict.fromkeys(words for words in questions if words.strip()))
    if not texts:
        return (None,) * len(questions)
    made = dict(zip(texts, embedder.embed_queries(texts), strict=True))
    return tuple(made.get(words) for words in questions)


Answer = TypeVar("Answer")
MAX_QUERY_LENGTH = MAX_QUESTION_LENGTH // 2  # characters, which may be twice as many when written out
COMPLETED = ("carry", "standalone")
"""The ways with a conversation that make a question of its own of a follow-up."""
MADE_UP = "\0"
"""Keeps made-up passages apart from questions of the same words, which are embedded otherwise."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A question taken apart, and its other wordings.

    `complete` is the one question behind them, with the conversation in it; empty where that is its own words.
    `meant` is a follow-up completed to a question of its own; None for what stands alone. `hypothetical` is a passage
    that could answer it. `intent` says what kind of passage it is after, and `kinds` the
    same as semantic types, if it can be told.
    """

    parsed: ParsedQuery
    queries: tuple[ParsedQuery, ...]
    complete: str = ""
    hypothetical: str | None = None
    intent: Intent | None = None
    kinds: frozenset[str] = frozenset()
    decisions: tuple[str, ...] = ()
    warnings: tuple[StageWarning, ...] = ()
    meant: ParsedQuery | None = None


@dataclass(frozen=True, slots=True, eq=False)
class QueryVariant:
    """One wording as the retrievers hear it: a retriever is left out without its half."""

    terms: TermQuery | None
    vector: Vector | None


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQuery:
    """A question ready for the retrievers, its queries in order; `mode` is what `degradation` left of the plan's."""

    understood: ParsedRequest
    mode: str
    asked: tuple[QueryVariant, ...]
    about_a_code: bool
    degradation: Degradation


def understand(
    parts: SearchComponents,
    question: str,
    plan: SearchPlan,
    history: Sequence[Turn] = (),
    watch: Stopwatch | None = None,
) -> ParsedRequest:
    """Take a question apart and reword it as the plan says.

    What cannot be reworded, for want of a generator, is a warning. Raises InvalidInputError for a question
    that is empty, too long, or only says what not to find.
    """
    watch = watch or Stopwatch()
    with watch.step("parse"):
        asked = parsed(parts, question)
    after = intent_of(asked.words) if plan.intent_filter or plan.metadata_boost.gamma else None
    intent = after if plan.intent_filter else None
    kinds = frozenset() if after is None else frozenset({after.name})
    if not (plan.query_expansion.needs_generator or history or parts.aids.transformers):
        return ParsedRequest(asked, (asked,), intent=intent, kinds=kinds)
    with watch.step("expand"):
        from twofold.search.expand import expand_query

        made = expand_query(asked.words, history, plan.query_expansion, parts.aids.rewriter, parts.aids.transformers)
        others = tuple(parsed(parts, text) for one in made.queries[1:] if (text := _prose(one.text)))
    decisions = tuple(f"{one.kind}: {one.text}" for one in made.queries[1:])
    completed = plan.query_expansion.follow_up in COMPLETED and any(one.kind == "follow_up" for one in made.queries)
    return ParsedRequest(
        parsed=asked,
        queries=(asked, *others),
        complete=made.question,
        hypothetical=made.hypothetical,
        intent=intent,
        kinds=kinds,
        decisions=decisions,
        warnings=made.warnings,
        meant=others[0] if completed and others else None,
    )


def encode_queries(
    parts: SearchComponents, understood: Sequence[ParsedRequest], plan: SearchPlan, watch: Stopwatch | None = None
) -> Sequence[EncodedQuery]:
    """Embed the wordings of all questions at once, and say of each how the retrievers hear it.

    Where the model fails a hybrid search goes on with words alone and says so; a search by vectors alone raises
    ModelError.
    """
    watch = watch or Stopwatch()
    degradation = degradation_of(plan.mode, reranks=bool(parts.aids.rerankers))
    vectors: Mapping[str, Vector] = {}
    if plan.mode != "bm25":
        try:
            with watch.step("embed"):
                vectors = _embedded(parts, understood, plan)
        except ModelError as error:
            degradation = degrade(degradation, Stage.VECTOR, error, plan)
    return [_heard(parts, one, plan, degradation, vectors) for one in understood]


def degrade(degradation: Degradation, stage: Stage, error: TwofoldError, plan: SearchPlan) -> Degradation:
    """Return what is left when a stage has failed; a mode of one retriever has nothing left, and raises by default."""
    if plan.on_failure == "degrade" and degradation.wanted & RETRIEVERS == {stage}:
        raise error
    return without(degradation, stage, error, plan.on_failure)


def _prose(text: str) -> str:
    """Return a wording that nobody typed as plain words, its end where it is longer than any question may be."""
    return as_prose(text).strip()[-MAX_QUERY_LENGTH:]


def parsed(parts: SearchComponents, question: str) -> ParsedQuery:
    """Take a question apart by the collection's own analyzer. Errors as for `understand`."""
    analyzer = parts.analyzer
    return parse(question, Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms))


def _embedded(parts: SearchComponents, understood: Sequence[ParsedRequest], plan: SearchPlan) -> Mapping[str, Vector]:
    """Embed all wordings as questions and all made-up answers as passages; what has no words has no vector."""
    questions = [variant.words for one in understood for variant in one.queries]
    passages = [one.hypothetical for one in understood if one.hypothetical]
    if not any(question.strip() for question in questions):
        return {}
    with parts.store.view() as view:
        held = view.fingerprint
    if held is not None:
        check_embedder(held.embedder, parts.embedder.identity)
    made = _waited(parts, plan, lambda: embed_together(parts.embedder, questions))
    vectors = {words: vector for words, vector in zip(questions, made, strict=True) if vector is not None}
    if passages:
        rows = _waited(parts, plan, lambda: parts.embedder.embed_passages(passages))
        vectors.update((MADE_UP + text, row) for text, row in zip(passages, rows, strict=True))
    return vectors


def _waited(parts: SearchComponents, plan: SearchPlan, call: Callable[[], Answer]) -> Answer:
    patience = plan.timeouts
    return waited(parts.aids.calls, "embedding the question", patience.limits.embed, patience.retry, call)


def _heard(
    parts: SearchComponents,
    understood: ParsedRequest,
    plan: SearchPlan,
    degradation: Degradation,
    vectors: Mapping[str, Vector],
) -> EncodedQuery:
    by_words = Stage.BM25 in degradation.left
    asked = [
        QueryVariant(
            replace(one.terms, k1=plan.k1, b=plan.b, scorer=plan.scorer) if by_words else None, vectors.get(one.words)
        )
        for one in understood.queries
    ]
    if understood.hypothetical and MADE_UP + understood.hypothetical in vectors:
        asked.append(QueryVariant(None, vectors[MADE_UP + understood.hypothetical]))
    code = is_about_a_code(understood.parsed.terms.weights, parts.analyzer.counts)
    mode = "bm25" if plan.mode == "hybrid" and Stage.VECTOR not in degradation.left else plan.mode
    return EncodedQuery(understood, mode, tuple(asked), code, degradation)


def check_embedder(held: EmbedderIdentity, used: EmbedderIdentity) -> None:
    """Refuse another embedder than the one that the passages were embedded with. Raises MismatchError."""
    if held != used:
        raise MismatchError(
            f"The index was made with the embedder {held.name!r}, not {used.name!r}.",
            "Search with `--embedder` as it was made, or run `twofold index reindex`.",
        )
