"""Take a score apart: what each retriever said, what each word gave, and that it all adds up."""

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

LETTERS = {
    "alpha": "Alpha is the first letter of the Greek alphabet.",
    "beta": "Beta comes second, after alpha.",
    "omega": "Omega, the last letter, closes the alphabet.",
}


def main() -> None:
    """Search three sentences and explain the best one."""
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for source, text in LETTERS.items():
            index.add(text, source=source)
        best = index.search("which letter is the last").hits[0]
    print(f"{best.source} scores {best.score:.4f}")
    for one in best.trace.retrievers:
        print(f"  {one.retriever}: {one.weight:.2f} x {one.normalized:.4f} (raw {one.raw:.4f}, rank {one.rank})")
    for term in best.trace.terms:
        print(f"    {term.term}: {term.frequency} times, idf {term.idf:.3f}, gives {term.score:.4f}")
    if best.trace.recompute_score() != best.score:
        raise SystemExit("the parts do not add up")


if __name__ == "__main__":
    main()
