"""Settings in, the plan of a search out: each default stands in the settings, and nowhere else."""

from twofold.config.load import Settings
from twofold.config.schema import BoostSettings, FusionSettings
from twofold.domain.filters import MATCH_ALL
from twofold.domain.retry import RetryPlan
from twofold.query.filter_syntax import parse_filter
from twofold.query.history import Memory
from twofold.ranking.boost import Rule, compile_patterns
from twofold.ranking.diversify import Limits
from twofold.ranking.fusion import FusionPlan
from twofold.ranking.metadata_boost import MetadataWeights
from twofold.ranking.prf import PrfParameters
from twofold.search.plan import MAX_SECONDS, BoostPlan, CachePlan, QueryExpansionPlan, RerankPlan, SearchPlan
from twofold.search.timeouts import StageLimits, Timeouts


def plan_of(settings: Settings) -> SearchPlan:
    """Return the search that the settings ask for.

    Raises InvalidInputError for a default filter or rules that are not filters, and for invalid patterns.
    """
    chosen, waiting, weighed, varied = settings.search, settings.timeouts, settings.metadata_boost, settings.diversity
    feedback = settings.prf
    return SearchPlan(
        k=chosen.k,
        mode=chosen.mode,
        candidates=chosen.candidates,
        k1=chosen.bm25.k1,
        b=chosen.bm25.b,
        scorer=chosen.bm25.scorer,
        default_filter=parse_filter(chosen.default_filter) if chosen.default_filter else MATCH_ALL,
        filter_stage=chosen.filter_stage,
        context_window=chosen.context_window,
        pending_seconds=chosen.pending_seconds,
        on_failure="degrade" if chosen.on_failure == "llm" else chosen.on_failure,
        profile=settings.profile,
        fusion=_fusion_of(settings.fusion),
        prf=PrfParameters(feedback.top_k, feedback.terms, feedback.weight, feedback.temperature),
        query_expansion=_rewrite_of(settings),
        dense_terms=settings.prf.dense_terms,
        intent_filter=settings.query.intent_filter,
        boost=_boost_of(settings.boost),
        rerank=RerankPlan(
            candidates=settings.rerank.candidates,
            top_n=settings.rerank.top_n,
            weight=settings.rerank.weight,
            threshold=settings.rerank.threshold,
            budget_ms=waiting.search * 1000.0,
            batch=settings.batch.rerank,
        ),
        metadata_boost=MetadataWeights(
            weighed.alpha, weighed.beta, weighed.gamma, weighed.cap, weighed.retrieval_score
        ),
        diversity=Limits(varied.per_page, varied.per_source, varied.max_overlap),
        timeouts=Timeouts(
            StageLimits(waiting.embed, waiting.retrieve, waiting.rerank, waiting.generate),
            retry_of(settings),
        ),
    )


def cache_plan_of(settings: Settings) -> CachePlan | None:
    """Return how answers are remembered; None where none are."""
    chosen = settings.cache
    if not chosen.size:
        return None
    return CachePlan(chosen.size, chosen.ttl_seconds, chosen.semantic_threshold, chosen.scope)


def retry_of(settings: Settings) -> RetryPlan:
    """Return how often a model that is out of reach is asked again. Raises InvalidInputError for pauses too long."""
    return RetryPlan(settings.retries.count, settings.retries.backoff_seconds)


def _rewrite_of(settings: Settings) -> QueryExpansionPlan:
    chosen, history = settings.query_expansion, settings.query
    return QueryExpansionPlan(
        multi_query=chosen.multi_query,
        hyde=chosen.hyde,
        decompose=chosen.decompose,
        keywords=chosen.keywords,
        follow_up=settings.query.follow_up,
        memory=Memory(history.turns, history.characters or None),
        merge=chosen.merge,
        seconds=settings.timeouts.generate or MAX_SECONDS,
    )


def _boost_of(chosen: BoostSettings) -> BoostPlan:
    rules = tuple(Rule(text, parse_filter(text), addition) for text, addition in chosen.rules.items())
    return BoostPlan(compile_patterns(chosen.patterns), chosen.multiplier, rules, chosen.stage)


def _fusion_of(chosen: FusionSettings) -> FusionPlan:
    own = chosen.parameters
    norms, weight = (own.bm25_norm, own.vector_norm), chosen.vector_weight
    evidence = own.evidence if own.evidence.startswith(f"vector_weight {weight:g} ") else ""  # of another weight: none
    return FusionPlan(chosen.method, weight, own.bm25_weight, own.rrf_k, *norms, evidence)
