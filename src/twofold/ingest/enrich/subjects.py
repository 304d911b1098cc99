"""What a passage is about, by vocabulary: water bodies, or the conservation of species. It knows no others."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from twofold.ingest.enrich.shape import Shape

MIN_TERMS = 2
MIN_TERMS_OF_TABLES = 1  # rows hold few words, and each of them counts

_WATER = (
    "lake", "river", "wetland", "ramsar", "reservoir", "estuary", "lagoon", "backwater", "pond", "tributary", "delta",
    "catchment", "watershed", "waterfall", "canal", "aquifer", "groundwater", "glacier", "gulf", "strait", "marsh",
    "swamp", "peatland", "floodplain", "stream", "creek", "ocean", "water body", "water bodies", "river basin",
)  # fmt: skip
_BIODIVERSITY = (
    "biodiversity", "species", "habitat", "wildlife", "endangered", "endemic", "iucn", "flora", "fauna", "sanctuary",
    "sanctuaries", "ecosystem", "mangrove", "poaching", "vertebrate", "mammal", "amphibian", "reptile", "conservation",
    "national park", "biosphere reserve", "tiger reserve", "protected area", "nature reserve", "coral reef",
)  # fmt: skip

VOCABULARIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {"biodiversity_conservation": _BIODIVERSITY, "water_bodies": _WATER}
)
"""Terms of each subject in lower case; a plural in -s counts as its singular."""


def _single(terms: Sequence[str]) -> Mapping[str, str]:
    return {form: term for term in terms if " " not in term for form in (term, f"{term}s")}


_WORDS = {subject: _single(terms) for subject, terms in VOCABULARIES.items()}
_PHRASES = {subject: [term for term in terms if " " in term] for subject, terms in VOCABULARIES.items()}

_ANY_WORD = frozenset(word for single in _WORDS.values() for word in single) | frozenset(
    phrase.split()[0] for phrases in _PHRASES.values() for phrase in phrases
)
"""A text with none of these words has no term of any subject."""


def subject_of(parts: Sequence[Shape], *, is_table: bool) -> str:
    """Return the subject with the most different terms among the words of texts, the first of equals; empty for none.

    Two different terms are needed, one in a table: "The river fills two lakes" is about water bodies.
    """
    distinct = {word.lower() for part in parts for word in part.different}
    if _ANY_WORD.isdisjoint(distinct):
        return ""
    line = f" {' '.join(word.lower() for part in parts for word in part.words)} "
    best, most = "", (MIN_TERMS_OF_TABLES if is_table else MIN_TERMS) - 1
    for subject, single in _WORDS.items():
        found = {single[word] for word in distinct & single.keys()}
        count = len(found) + sum(f" {phrase} " in line or f" {phrase}s " in line for phrase in _PHRASES[subject])
        if count > most:
            best, most = subject, count
    return best
