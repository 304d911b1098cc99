"""Understanding questions: taken apart, reworded where that was asked for, and embedded all at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from twofold.domain.errors import MismatchError, ModelError, TwofoldError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import LONGEST_QUESTION, TermQuery, Vector
from twofold.late import late
from twofold.lexical.codes import is_about_a_code
from twofold.lexical.normal import fold
from twofold.pipeline.embed_many import embed_together
from twofold.pipeline.fallback import ARMS, Footing, Stage, footing_of, without
from twofold.pipeline.patience import waited
from twofold.pipeline.plan import SearchPlan
from twofold.pipeline.search_parts import SearchParts
from twofold.pipeline.standing import Stopwatch
from twofold.query.history import Turn
from twofold.query.intent import Intent, intent_of
from twofold.query.parse import Analysis, ParsedQuery, parse
from twofold.query.prose import as_prose

if TYPE_CHECKING:
    from twofold.pipeline.rewriting import Rewritten

Answer = TypeVar("Answer")
LONGEST_WORDING = LONGEST_QUESTION // 2  # characters, which may be twice as many when written out
COMPLETED = ("carry", "standalone")
"""The ways with a conversation that make a question of its own of a follow-up."""
MADE_UP = "\0"
"""Keeps made-up passages apart from questions of the same words, which are embedded otherwise."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A question taken apart, and its other wordings.

    `complete` is the one question behind them, with the conversation in it; empty where that is its own words.
    `meant` is a follow-up completed to a question of its own; None for what stands alone. `hypothetical` is a passage
    that could answer it. `intent` says what kind of passage it is after, and `kinds` the
    same as semantic types, if it can be told.
    """

    parsed: ParsedQuery
    wordings: tuple[ParsedQuery, ...]
    complete: str = ""
    hypothetical: str | None = None
    intent: Intent | None = None
    kinds: frozenset[str] = frozenset()
    decisions: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    meant: ParsedQuery | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One wording as the arms hear it: an arm is left out without its half."""

    terms: TermQuery | None
    vector: Vector | None


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """A question as the arms hear it, its wordings in order; `mode` is what is left of the plan's by `footing`."""

    understood: Understood
    mode: str
    asked: tuple[Asked, ...]
    about_a_code: bool
    footing: Footing


def understand(
    parts: SearchParts, question: str, plan: SearchPlan, history: Sequence[Turn] = (), watch: Stopwatch | None = None
) -> Understood:
    """Take a question apart and reword it as the plan says.

    What cannot be reworded, for want of a generator, is told in `degraded`. Raises InvalidInputError for a question
    that is empty, too long, or only says what not to find.
    """
    watch = watch or Stopwatch()
    with watch.step("parse"):
        asked = parsed(parts, question)
    after = intent_of(asked.words) if plan.by_intent or plan.metadata.gamma else None
    intent = after if plan.by_intent else None
    kinds = frozenset() if after is None else frozenset({after.name})
    if not (plan.rewrite.needs_generator or history or parts.aids.transformers):
        return Understood(asked, (asked,), intent=intent, kinds=kinds)
    with watch.step("rewrite"):
        rewrite = late("twofold.pipeline.rewriting:rewrite")
        made: Rewritten = rewrite(asked.words, history, plan.rewrite, parts.aids.rewriter, parts.aids.transformers)
        others = tuple(parsed(parts, text) for one in made.wordings[1:] if (text := _prose(one.text)))
    decisions = tuple(f"{one.kind}: {one.text}" for one in made.wordings[1:])
    completed = plan.rewrite.follow_up in COMPLETED and any(one.kind == "follow_up" for one in made.wordings)
    return Understood(
        parsed=asked,
        wordings=(asked, *others),
        complete=made.question,
        hypothetical=made.hypothetical,
        intent=intent,
        kinds=kinds,
        decisions=decisions,
        degraded=made.degraded,
        meant=others[0] if completed and others else None,
    )


def hear(
    parts: SearchParts, understood: Sequence[Understood], plan: SearchPlan, watch: Stopwatch | None = None
) -> Sequence[Heard]:
    """Embed the wordings of all questions at once, and say of each how the arms hear it.

    Where the model fails a hybrid search goes on with words alone and says so; a semantic one raises ModelError.
    """
    watch = watch or Stopwatch()
    footing = footing_of(plan.mode, reranks=bool(parts.aids.rerankers))
    vectors: Mapping[str, Vector] = {}
    if plan.mode != "bm25":
        try:
            with watch.step("embed"):
                vectors = _embedded(parts, understood, plan)
        except ModelError as error:
            footing = fall(footing, Stage.DENSE, error, plan)
    return [_heard(parts, one, plan, footing, vectors) for one in understood]


def fall(footing: Footing, stage: Stage, error: TwofoldError, plan: SearchPlan) -> Footing:
    """Say what is left when a stage has failed; a mode of one arm has nothing left, and raises unless told not to."""
    if plan.on_failure == "degrade" and footing.wanted & ARMS == {stage}:
        raise error
    return without(footing, stage, error, plan.on_failure)


def _prose(wording: str) -> str:
    """Give a wording that nobody typed as plain words, its end where it is longer than any question may be."""
    return as_prose(wording).strip()[-LONGEST_WORDING:]


def parsed(parts: SearchParts, question: str) -> ParsedQuery:
    """Take a question apart by the collection's own analyser. Errors as for `understand`."""
    analyser = parts.analyser
    return parse(question, Analysis(fold, analyser.query, analyser.phrase_terms, analyser.clause_terms))


def _embedded(parts: SearchParts, understood: Sequence[Understood], plan: SearchPlan) -> Mapping[str, Vector]:
    """Embed all wordings as questions and all made-up answers as passages; what has no words has no vector."""
    questions = [wording.words for one in understood for wording in one.wordings]
    passages = [one.hypothetical for one in understood if one.hypothetical]
    if not any(question.strip() for question in questions):
        return {}
    with parts.store.view() as view:
        held = view.recipe
    if held is not None:
        check_embedder(held.embedder, parts.embedder.identity)
    made = _waited(parts, plan, lambda: embed_together(parts.embedder, questions))
    vectors = {words: vector for words, vector in zip(questions, made, strict=True) if vector is not None}
    if passages:
        rows = _waited(parts, plan, lambda: parts.embedder.embed_passages(passages))
        vectors.update((MADE_UP + text, row) for text, row in zip(passages, rows, strict=True))
    return vectors


def _waited(parts: SearchParts, plan: SearchPlan, call: Callable[[], Answer]) -> Answer:
    patience = plan.patience
    return waited(parts.aids.calls, "embedding the question", patience.limits.embed, patience.retry, call)


def _heard(
    parts: SearchParts, understood: Understood, plan: SearchPlan, footing: Footing, vectors: Mapping[str, Vector]
) -> Heard:
    by_words = Stage.LEXICAL in footing.left
    asked = [
        Asked(
            replace(one.terms, k1=plan.k1, b=plan.b, scorer=plan.lexical) if by_words else None, vectors.get(one.words)
        )
        for one in understood.wordings
    ]
    if understood.hypothetical and MADE_UP + understood.hypothetical in vectors:
        asked.append(Asked(None, vectors[MADE_UP + understood.hypothetical]))
    code = is_about_a_code(understood.parsed.terms.weights, parts.analyser.counts)
    mode = "bm25" if plan.mode == "hybrid" and Stage.DENSE not in footing.left else plan.mode
    return Heard(understood, mode, tuple(asked), code, footing)


def check_embedder(held: EmbedderIdentity, used: EmbedderIdentity) -> None:
    """Refuse another embedder than the one that the passages were embedded with. Raises MismatchError."""
    if held != used:
        raise MismatchError(
            f"The index was made with the embedder {held.name!r}, not {used.name!r}.",
            "Search with `--embedder` as it was made, or run `twofold index reindex`.",
        )
