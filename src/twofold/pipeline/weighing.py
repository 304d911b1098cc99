"""The metadata stage: what passages' own fields add to a score (checklist 81); left out unless something weighs."""

from collections.abc import Collection

from twofold.pipeline.results import Step
from twofold.pipeline.standing import Passages, Standing
from twofold.ranking.metadata import Asked, MetadataStep, MetadataWeights, metadata_features, with_metadata


def weigh(
    standing: Standing, passages: Passages, words: str, kinds: Collection[str], weights: MetadataWeights
) -> Standing:
    """Add to each score what the passage's fields are worth for a question; `kinds` are the semantic types it wants."""
    if weights.is_idle or not len(standing.ranking):
        return standing
    asked = Asked(frozenset(words.lower().split()), frozenset(kinds))
    keys, scores = standing.ranking.keys.tolist(), standing.ranking.scores.tolist()
    steps = [MetadataStep(weights, metadata_features(fields, asked)) for fields in passages.fields(keys)]
    made = {
        key: Step("metadata", score, step.apply(score), step)
        for key, score, step in zip(keys, scores, steps, strict=True)
    }
    return standing.after("metadata", with_metadata(standing.ranking, steps), steps=made)
