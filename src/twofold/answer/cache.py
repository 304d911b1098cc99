"""The memory of answers: what was written from the same passages, for the same question, in the same manner.

An answer depends on the question, on the passages that its search found, on how it is to be made, and on who writes. So
this is what it is kept by; whatever changes any of it, a document, a setting, a filter, a model, asks for a new one.
A question that the search takes for an earlier one, being almost the same, has that one's passages, and so its answer.
"""

from dataclasses import replace

from twofold.answer.plan import AnswerPlan, Question
from twofold.answer.types import Answer
from twofold.domain.dataclass import dataclass
from twofold.domain.generators import GeneratorIdentity
from twofold.domain.warning import StageWarning
from twofold.query.follow_up import is_follow_up
from twofold.search.cache import CachedResult, CacheKey, ResultCache, digest
from twofold.search.result import SearchResult, hit_of


@dataclass(frozen=True, slots=True, eq=False)
class AnswerMemory:
    """Answers that may be given again in this session; `""` without one.

    `warnings` are those of every search by these settings.
    """

    memory: ResultCache[Answer]
    session: str = ""
    warnings: tuple[StageWarning, ...] = ()

    def key(
        self, question: Question, plan: AnswerPlan, found: SearchResult, writer: GeneratorIdentity | None
    ) -> CacheKey:
        """Return what an answer is kept by."""
        passages = tuple(
            (hit.collection, hit.chunk_id, hit.score, hit.text, hit.title, tuple(near.text for near in hit.context))
            for hit in found.hits
        )
        said = question.history if is_follow_up(question.text) else ()
        asked = digest((found.queries, passages, found.p_answerable, said))
        return CacheKey((), digest((plan, writer, self.warnings)), asked, b"", (), self.session)

    def known(self, key: CacheKey) -> CachedResult[Answer] | None:
        """Return the answer that is kept, if there is one."""
        return self.memory.get_similar(key)

    def keep(self, key: CacheKey, answer: Answer) -> None:
        """Keep an answer that is as whole as the settings allow: one that is degraded otherwise is made again."""
        if not answer.cache.hit and all(one in self.warnings for one in answer.warnings):
            self.memory.put(key, None, answer)


def again(known: CachedResult[Answer], question: str) -> Answer:
    """Return the answer that was kept as the answer to a question, and say so."""
    return replace(known.value, question=question, cache=hit_of(known.age))
