"""Make a table of a search's passages, for pandas or any other tool that reads rows: `python examples/dataframe.py`.

With pandas it is one line, `pandas.DataFrame(result.to_dicts())`; without it the same rows go to a CSV file's writer.
"""

import csv
import sys

from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder

NOTES = {"cat.txt": "The cat sat on the mat.", "dog.txt": "The dog sat on the log.", "sun.txt": "The sun shone."}


def main() -> None:
    """Search a small index, and write rank, score, source, year and text of each passage."""
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for year, (source, text) in enumerate(NOTES.items(), start=2024):
            index.add(text, source=source, metadata={"year": year})
        rows = index.search("who sat on the mat", mode="bm25", filter="year <= 2025").to_dicts()
    table = csv.DictWriter(sys.stdout, ["rank", "source", "metadata.year", "text"], extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)


if __name__ == "__main__":
    main()
