"""Understanding questions: taken apart, reworded where that was asked for, and embedded all at once."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TypeVar, cast

from twofold.domain.dataclass import replace
from twofold.domain.errors import MismatchError, ModelError, TwofoldError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import ALL, Embedder, EmbedderIdentity, Remembering, Scope, Snapshot, Store
from twofold.domain.types import MAX_QUESTION_LENGTH, Clause, TermQuery, Vector, WordCount
from twofold.query.fiscal_years import written_out
from twofold.query.intent import intent_of
from twofold.query.operators import all_of
from twofold.query.parse import Analysis, ParsedQuery, as_prose
from twofold.query.parse import parse as parse_question
from twofold.query.parts import MAX_WORDS, Expansion
from twofold.search.components import Analyzer, SearchComponents
from twofold.search.degradation import RETRIEVERS, Degradation, Stage, degradation_of, without
from twofold.search.one_state import in_one_state
from twofold.search.plan import SearchPlan
from twofold.search.request import EncodedQuery, ParsedRequest, QueryVariant
from twofold.search.state import PipelineState
from twofold.search.timeouts import waited
from twofold.text.analyzer import is_about_a_code
from twofold.text.auto_analyzer import MARK, AutoAnalyzer, marks
from twofold.text.bm25 import without_groups
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


def parse(state: PipelineState) -> PipelineState:
    """Take the question apart.

    Raises InvalidInputError for a question that is empty, too long, or only says what not to find.
    """
    plan = state.plan
    said: tuple[tuple[str, str], ...] = ()
    with state.watch.step("parse"):
        if plan.results is None or not plan.results.extract_filters:
            asked = parsed(state.parts, state.question, plan)
        else:
            asked, said = plan.results.parsed(state.question, lambda rest: parsed(state.parts, rest, plan))
    after = intent_of(asked.words) if plan.intent_filter or plan.metadata_boost.gamma else None
    request = ParsedRequest(
        asked,
        (asked,),
        intent=after if plan.intent_filter else None,
        kinds=frozenset() if after is None else frozenset({after.name}),
        warnings=asked.warnings,
        extracted=said,
    )
    return replace(state, request=request)


def expand(state: PipelineState) -> PipelineState:
    """Reword the question as the plan says; a warning says what could not be, without a generator."""
    parts, plan, request = state.parts, state.plan, state.request
    if not (plan.query_expansion.needs_generator or state.history or parts.models.transformers):
        return state
    with state.watch.step("expand"):
        from twofold.search.expand import expand_query

        made = expand_query(
            request.parsed.words, state.history, plan.query_expansion, parts.models.rewriter, parts.models.transformers
        )
        others = tuple(parsed(parts, text) for one in made.queries[1:] if (text := _prose(one.text)))
    completed = plan.query_expansion.follow_up in COMPLETED and any(one.kind == "follow_up" for one in made.queries)
    request = replace(
        request,
        queries=(request.parsed, *others),
        complete=made.question,
        hypothetical=made.hypothetical,
        decisions=tuple(f"{one.kind}: {one.text}" for one in made.queries[1:]),
        warnings=(*request.warnings, *made.warnings),
        meant=others[0] if completed and others else None,
    )
    return replace(state, request=request)


def embed(state: PipelineState) -> PipelineState:
    """Embed the question; see `embed_many`."""
    return embed_many([state])[0]


def embed_many(states: Sequence[PipelineState]) -> Sequence[PipelineState]:
    """Embed the queries of all questions at once; they share parts, plan and watch.

    Where the model fails a hybrid search goes on with BM25 only, with a warning; a search by vectors alone raises
    ModelError.
    """
    if not states:
        return states
    first = states[0]
    parts, plan = first.parts, first.plan
    degradation = degradation_of(plan.mode, reranks=bool(parts.models.rerankers))
    vectors: Mapping[str, Vector] = {}
    embedder = None
    if plan.mode != "bm25":
        try:
            with first.watch.step("embed"):
                embedder = parts.embedder.identity
                vectors = _embedded(parts, [one.request for one in states], plan)
        except ModelError as error:
            degradation = degrade(degradation, Stage.VECTOR, error, plan)
    return [replace(one, query=_encoded(one, degradation, vectors, embedder)) for one in states]


def degrade(degradation: Degradation, stage: Stage, error: TwofoldError, plan: SearchPlan) -> Degradation:
    """Return what is left when a stage has failed; a mode of one retriever has nothing left, and raises by default."""
    if plan.on_failure == "degrade" and degradation.wanted & RETRIEVERS == {stage}:
        raise error
    return without(degradation, stage, error, plan.on_failure)


def _prose(text: str) -> str:
    """Return a generated query as plain words, its end where it is longer than any question may be."""
    return as_prose(text).strip()[-MAX_QUERY_LENGTH:]


def parsed(parts: SearchComponents, question: str, plan: SearchPlan | None = None) -> ParsedQuery:
    """Take a question apart by the collection's own analyzer. Errors as for `parse`.

    With a plan, patterns stand for words of passages that its filters let through; without one they are words.
    """
    analyzer = parts.analyzer
    if isinstance(analyzer, AutoAnalyzer):
        analyzer = analyzer.among(languages_of(parts.store))
    analysis = analysis_by(analyzer)
    if plan is not None and not question.isalnum():
        expand = partial(expand_pattern, parts, Scope(all_of(plan.filter, plan.default_filter_left)))
        analysis = replace(analysis, is_field=partial(is_field, parts.store), expand=expand)
    made = parse_question(question, analysis)
    if not isinstance(analyzer, AutoAnalyzer):
        return made
    return replace(made, notes=(*made.notes, f"analyzed as {', '.join(analyzer.languages)}"))


def analysis_by(analyzer: Analyzer) -> Analysis:
    """Return what parsing asks of an analyzer; of one for several languages also what each of them says."""
    each = analyzer.each() if isinstance(analyzer, AutoAnalyzer) else ()
    ways = tuple(map(analysis_by, each)) if len(each) > 1 else ()
    return Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms, each=ways)


def languages_of(store: Store) -> list[str]:
    """Return the languages that passages were analyzed as, of those that may be seen."""
    counts = in_one_state(store, lambda view: view.statistics(marks()).frequencies)
    return [mark.removeprefix(MARK) for mark in marks() if counts.get(mark, 0)]


def _embedded(parts: SearchComponents, understood: Sequence[ParsedRequest], plan: SearchPlan) -> Mapping[str, Vector]:
    """Embed all queries as questions and all hypothetical answers as passages; what has no words has no vector."""
    asked = [variant.words for one in understood for variant in one.queries]
    questions = [written_out(words) for words in asked]
    passages = [one.hypothetical for one in understood if one.hypothetical]
    if not any(question.strip() for question in questions):
        return {}
    if _at_hand(parts, plan, questions):
        made = embed_together(parts.embedder, questions)
    else:
        made = _waited(parts, plan, lambda: embed_together(parts.embedder, questions))
    vectors = {words: vector for words, vector in zip(asked, made, strict=True) if vector is not None}
    if passages:
        rows = _waited(parts, plan, lambda: parts.embedder.embed_passages(passages))
        vectors.update((MADE_UP + text, row) for text, row in zip(passages, rows, strict=True))
    return vectors


def _at_hand(parts: SearchComponents, plan: SearchPlan, questions: Sequence[str]) -> bool:
    """Return whether the vectors are there already: a thread of its own, to limit the time, would take longer."""
    if not plan.timeouts.limits.embed:
        return False  # there is no thread then
    kind = type(parts.embedder)
    if not hasattr(kind, "at_hand"):  # `isinstance` of a protocol takes 30 µs
        return False
    return cast("Remembering", parts.embedder).at_hand([one for one in questions if one.strip()])


def _waited(parts: SearchComponents, plan: SearchPlan, call: Callable[[], Answer]) -> Answer:
    patience = plan.timeouts
    return waited(parts.models.calls, "embedding the question", patience.limits.embed, patience.retry, call)


def _encoded(
    state: PipelineState,
    degradation: Degradation,
    vectors: Mapping[str, Vector],
    embedder: EmbedderIdentity | None,
) -> EncodedQuery:
    understood, plan = state.request, state.plan
    by_words = Stage.BM25 in degradation.left
    asked = [
        QueryVariant(_scored(one.terms, plan) if by_words else None, vectors.get(one.words))
        for one in understood.queries
    ]
    if understood.hypothetical and MADE_UP + understood.hypothetical in vectors:
        asked.append(QueryVariant(None, vectors[MADE_UP + understood.hypothetical]))
    code = is_about_a_code(understood.parsed.terms.weights, state.parts.analyzer.counts)
    mode = "bm25" if plan.mode == "hybrid" and Stage.VECTOR not in degradation.left else plan.mode
    return EncodedQuery(understood, mode, tuple(asked), code, degradation, embedder)


def add_synonyms(state: PipelineState) -> PipelineState:
    """Widen the queries for BM25 by the index's synonyms, where it has any; notes of the trace say by which rules."""
    rules = state.passages.view.synonyms
    if not rules or state.plan.scorer != "bm25":
        return state
    from twofold.query.synonyms import with_synonyms

    asked, notes = [], list[str]()
    for one, parsed_query in zip_longest(state.query.asked, state.query.understood.queries):
        if one is not None and one.terms is not None and parsed_query is not None:
            made, said = with_synonyms(one.terms, parsed_query.words, rules, state.parts.analyzer.phrase_terms)
            asked.append(replace(one, terms=made))
            notes += said
        elif one is not None:
            asked.append(one)
    if not notes:
        return state
    request = state.query.understood
    request = replace(request, parsed=replace(request.parsed, notes=(*request.parsed.notes, *dict.fromkeys(notes))))
    return replace(state, query=replace(state.query, understood=request, asked=tuple(asked)))


def _scored(terms: TermQuery, plan: SearchPlan) -> TermQuery:
    """Return a query with the plan's formula; TF-IDF knows no groups of terms."""
    known = without_groups(terms) if plan.scorer == "tfidf" and terms.groups else terms
    return replace(known, k1=plan.k1, b=plan.b, scorer=plan.scorer)


def check_embedder(held: EmbedderIdentity, used: EmbedderIdentity) -> None:
    """Refuse another embedder than the one that the passages were embedded with. Raises MismatchError."""
    if held != used:
        raise MismatchError(
            f"The index was made with the embedder {held.name!r}, not {used.name!r}.",
            "Search with `--embedder` as it was made, or run `twofold index reindex`.",
        )


def is_field(store: Store, name: str) -> bool:
    """Return whether any passage that may be seen has a field of this name."""
    scope = Scope(Condition(name, Operator.EXISTS))
    return in_one_state(
        store,
        lambda view: (
            any(name in part.fields for part in view.vocabularies()) and view.count_within(ALL, [scope])[0] > 0
        ),
    )


def expand_pattern(parts: SearchComponents, scope: Scope, pattern: str) -> Expansion:
    """Return the words that a pattern stands for, of those in passages of a scope, the most frequent first."""
    most = MAX_WORDS + 1

    def words_of(view: Snapshot) -> tuple[str, ...]:
        head = pattern[:-1]
        if pattern.endswith("*") and "*" not in head and "?" not in head:
            found = added_up(word for part in view.vocabularies() for word in part.starting_with(head, most))
        else:
            found = added_up(word for part in view.vocabularies() for word in part.like(pattern, most))
        return tuple(one.word for one in visible(view, found, scope, parts.analyzer, most))

    words = in_one_state(parts.store, words_of)
    return Expansion(words[:MAX_WORDS], len(words) > MAX_WORDS)


def added_up(counts: Iterable[WordCount]) -> list[WordCount]:
    """Add up what several parts of a collection count of the same words; the most frequent come first."""
    total: Counter[str] = Counter()
    for word, often in counts:
        total[word] += often
    return [WordCount(word, total[word]) for word in sorted(total, key=lambda word: (-total[word], word))]


def visible(view: Snapshot, words: Sequence[WordCount], scope: Scope, analyzer: Analyzer, most: int) -> list[WordCount]:
    """Return the first words, at most `most`, that some passage of a scope holds, each with how many do."""
    kept: list[WordCount] = []
    for at in range(0, len(words), most):
        some = words[at : at + most]
        counts = view.count_holding(scope, [clause_of(one.word, analyzer) for one in some])
        kept += [WordCount(one.word, often) for one, often in zip(some, counts, strict=True) if often]
        if len(kept) >= most:
            break
    return kept[:most]


def clause_of(word: str, analyzer: Analyzer) -> Clause:
    """Return what holds where a passage has this very word."""
    return Clause(tuple(analyzer.phrase_terms(word)), word)
