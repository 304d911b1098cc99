"""How a search is done: one frozen value, with a part for each stage."""

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.domain.warning import StageWarning, WarningCode
from twofold.query.history import LAST_FIVE, Memory
from twofold.query.operators import without_replaced
from twofold.ranking import fusion
from twofold.ranking.boost import MAX_MULTIPLIER, NO_PATTERNS, CodePatterns, Rule
from twofold.ranking.diversify import Limits
from twofold.ranking.fusion import FusionPlan
from twofold.ranking.metadata_boost import MetadataWeights
from twofold.ranking.prf import PrfParameters
from twofold.search.timeouts import Timeouts

if TYPE_CHECKING:
    from twofold.search.result_plan import ResultPlan

MAX_QUERIES = 10
MAX_KEYWORDS = 20
MAX_SECONDS = 600.0
MAX_CACHE_SIZE = 1_000
CACHE_SCOPES = ("shared", "session")
FOLLOW_UPS = ("none", "carry", "prepend", "standalone")
MERGES = ("best_score", "rrf")
"""How the rankings of several queries become one: the best score in each retriever, or by rank after fusion."""


@dataclass(frozen=True, slots=True)
class CachePlan:
    """How answers are remembered: at most `size` (1 to 1,000), each for less than `ttl_seconds`.

    A near question is answered where the cosine exceeds `semantic_threshold` (0 to 1); with 1 none is. It must also
    have the same terms, as `twofold.search.cache` says. With scope `session` only who asked is answered, and who asks
    without a session neither is nor leaves anything.
    """

    size: int = 100
    ttl_seconds: float = 300.0
    semantic_threshold: float = 0.98
    scope: Literal["shared", "session"] = "shared"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not 1 <= self.size <= MAX_CACHE_SIZE:
            raise InvalidInputError(f"The cache cannot hold {self.size} results.", f"Choose 1 to {MAX_CACHE_SIZE:,}.")
        if not self.ttl_seconds > 0.0:
            raise InvalidInputError(f"The cache cannot keep results for {self.ttl_seconds} s.", "Choose more than 0.")
        if not 0.0 <= self.semantic_threshold <= 1.0:
            raise InvalidInputError(f"The similarity cannot be {self.semantic_threshold}.", "Choose 0 to 1.")
        if self.scope not in CACHE_SCOPES:
            raise InvalidInputError(f"There is no scope {self.scope!r}.", f"Use one of {', '.join(CACHE_SCOPES)}.")


@dataclass(frozen=True, slots=True)
class QueryExpansionPlan:
    """What is done to a question; zero and False leave a part out.

    `multi_query` counts queries, the original among them: 3 gives [q1, q2, q3]. `hyde` asks for a passage
    to be searched by its meaning (37), `decompose` for two to four simpler questions (38), `keywords` for a number of
    terms, put behind the question (36). These need a generator; without one two other queries are made by rule.
    `follow_up` is how a conversation acts (40): `carry` completes by rule what is a follow-up and leaves other
    questions alone; `prepend` puts its last entries before every question; `standalone` has a model complete the
    question; `memory` says how far the last two look back. `merge` is how the queries' rankings are merged; `seconds`
    is how long a model may take for all together.
    """

    multi_query: int = 0
    hyde: bool = False
    decompose: bool = False
    keywords: int = 0
    follow_up: str = "none"
    memory: Memory = field(default=LAST_FIVE)
    merge: str = "best_score"
    seconds: float = 20.0

    def check(self) -> None:
        """Raise InvalidInputError for a part that cannot be as it is."""
        if not 0 <= self.multi_query <= MAX_QUERIES:
            raise InvalidInputError(f"variants must be from 0 to {MAX_QUERIES}, not {self.multi_query}.", "3 is usual.")
        if not 0 <= self.keywords <= MAX_KEYWORDS:
            raise InvalidInputError(f"keywords must be from 0 to {MAX_KEYWORDS}, not {self.keywords}.", "5 is usual.")
        if self.follow_up not in FOLLOW_UPS:
            raise InvalidInputError(
                f"There is no follow-up {self.follow_up!r}.", f"Use one of {', '.join(FOLLOW_UPS)}."
            )
        if self.merge not in MERGES:
            raise InvalidInputError(f"There is no merge {self.merge!r}.", f"Use one of {', '.join(MERGES)}.")
        if not 0.0 < self.seconds <= MAX_SECONDS:
            raise InvalidInputError(f"Rewriting cannot take {self.seconds} s.", "20 seconds are usual.")

    @property
    def needs_generator(self) -> bool:
        """Return whether any part needs a language model."""
        writes = self.multi_query > 1 or self.keywords > 0
        return writes or self.hyde or self.decompose or self.follow_up == "standalone"


BOOST_STAGES = ("fused", "reranked", "both")
FILTER_STAGES = ("pre", "post")


@dataclass(frozen=True, slots=True)
class BoostPlan:
    """What lifts a passage; without patterns and rules nothing does.

    `stage` says which scores are lifted: `fused`, before the reranker, `reranked`, after it, or `both`.
    """

    patterns: CodePatterns = NO_PATTERNS
    multiplier: float = 1.5
    rules: tuple[Rule, ...] = ()
    stage: str = "fused"


@dataclass(frozen=True, slots=True)
class RerankPlan:
    """How candidates are reranked: how many, with what weight in [0, 1], and from what relevance in [0, 1] they stay.

    `top_n` is how many are left after it, 0 for all. `budget_ms` is the time that the whole search may take, 0 for no
    limit. `batch` is how many passages the model gets at once, 0 for all.
    """

    candidates: int = 20
    top_n: int = 0
    weight: float = 0.2
    threshold: float = 0.0
    budget_ms: float = 0.0
    batch: int = 0


MODES = ("hybrid", "bm25", "vector")
ON_FAILURE = ("degrade", "empty", "raise")
MAX_K = 1_000
MAX_DEPTH = 100_000
MAX_WINDOW = 50


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a search is done; a part that is absent, or weighs nothing, leaves its stage out.

    `k` (1 to 1,000) is how many passages are given. `candidates` is how many candidates each retriever gives, never
    fewer than `k`: a number, or how many times k, `"5x"`. `filter` and `default_filter`, a profile's own filter, act at
    the `filter_stage`: `pre`, before the retrievers choose, or `post`, after fusion, which can leave fewer than `k`.
    `context_window` is how many neighbors on either side come with each passage. `dense_terms` is how many terms are
    taken from the first passages of vector search, `intent_filter` narrows a question to the passages of the kind that
    it asks for, if there are any. `profile` is a name for the trace. `wanted` is how many passages were asked for,
    which may be more than `k`. `scorer` is the formula for terms, `bm25` or `tfidf`. `pending_seconds` is how long a
    query may embed its best candidates by BM25 that have no vector yet. `results` is what is asked of the results, None
    for nothing. `depth` is how many candidates each retriever gives whatever `k` is, 0 for as `candidates` says: pages
    of one ranking have it in common.
    """

    k: int = 10
    mode: str = "hybrid"
    candidates: int | str = 100
    k1: float = 1.2
    b: float = 0.75
    scorer: str = "bm25"
    filter: Filter = MATCH_ALL
    default_filter: Filter = MATCH_ALL
    filter_stage: str = "pre"
    context_window: int = 0
    dense_terms: int = 0
    pending_seconds: float = 0.5
    intent_filter: bool = False
    on_failure: str = "degrade"
    profile: str = ""
    wanted: int = 0
    fusion: FusionPlan = field(default_factory=FusionPlan)
    prf: PrfParameters = field(default_factory=PrfParameters)
    query_expansion: QueryExpansionPlan = field(default_factory=QueryExpansionPlan)
    boost: BoostPlan = field(default_factory=BoostPlan)
    rerank: RerankPlan = field(default_factory=RerankPlan)
    metadata_boost: MetadataWeights = field(default_factory=MetadataWeights)
    diversity: Limits = field(default_factory=Limits)
    timeouts: Timeouts = field(default_factory=Timeouts)
    results: "ResultPlan | None" = None
    depth: int = 0

    @property
    def warnings(self) -> tuple[StageWarning, ...]:
        """What is done otherwise than was asked."""
        if self.wanted <= self.k:
            return ()
        why = f"{self.wanted} passages were asked for, and `search.max_results` allows {self.k}."
        return (StageWarning("fetch", WarningCode.LIMITED, why),)

    @property
    def default_filter_left(self) -> Filter:
        """The profile's own filter, less the lower bounds that `filter` replaces."""
        return without_replaced(self.default_filter, self.filter)

    @property
    def reach(self) -> int:
        """How many candidates each retriever gives: 25 for k = 5 and a depth of `5x`."""
        return self.depth or max(self.k, _reach(self.candidates, self.k))


def check(plan: SearchPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    for what, value, known in (
        ("mode", plan.mode, MODES),
        ("filter stage", plan.filter_stage, FILTER_STAGES),
        ("way to fail", plan.on_failure, ON_FAILURE),
    ):
        if value not in known:
            raise InvalidInputError(f"There is no {what} {value!r}.", f"Use one of {', '.join(known)}.")
    if not (plan.k >= 1 and max(plan.k, plan.wanted) <= MAX_K):
        wrong = max(plan.k, plan.wanted)
        raise InvalidInputError(f"k must be from 1 to {MAX_K}, not {wrong}.", "Ask for 10, for example.")
    if not 0 <= plan.context_window <= MAX_WINDOW:
        raise InvalidInputError(f"The window must be from 0 to {MAX_WINDOW}, not {plan.context_window}.", "Try 2.")
    if not 1 <= plan.reach <= MAX_DEPTH:
        raise InvalidInputError(f"The depth must be from 1 to {MAX_DEPTH}, not {plan.reach}.", "Try 100.")
    fusion.check(plan.fusion)
    plan.query_expansion.check()
    _check_boost(plan.boost)
    _check_rerank(plan.rerank)


def _reach(depth: int | str, k: int) -> int:
    written = str(depth)
    if not written.removesuffix("x").isdecimal():
        raise InvalidInputError(f"The depth cannot be {depth!r}.", "Give a number, or a multiple of k such as `5x`.")
    return int(written) if written.isdecimal() else k * int(written[:-1])


def _check_boost(plan: BoostPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    if plan.stage not in BOOST_STAGES:
        raise InvalidInputError(f"There is no boost stage {plan.stage!r}.", f"Use one of {', '.join(BOOST_STAGES)}.")
    if not 1.0 <= plan.multiplier <= MAX_MULTIPLIER:
        raise InvalidInputError(f"The boost multiplier must be from 1 to 1000, not {plan.multiplier}.", "Try 1.5.")


def _check_rerank(plan: RerankPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    if plan.candidates < 1 or plan.top_n < 0:
        raise InvalidInputError(
            f"{plan.top_n} of {plan.candidates} candidates cannot be kept.", "Rerank at least 1; keep 0 for all."
        )
    for name, value in (("weight", plan.weight), ("threshold", plan.threshold)):
        if not 0.0 <= value <= 1.0:
            raise InvalidInputError(f"The rerank {name} must be from 0 to 1, not {value}.", "Choose one in between.")
    if not plan.budget_ms >= 0.0:
        raise InvalidInputError(f"The budget cannot be {plan.budget_ms} ms.", "Use 0 for no limit.")
