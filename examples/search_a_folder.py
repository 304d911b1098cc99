"""Keep a folder searchable and ask it something: `python examples/search_a_folder.py FOLDER QUESTION…`."""

import sys

from twofold import Index


def main(folder: str, *words: str) -> None:
    """Sync the folder into an index of its own name, then print the three best passages."""
    with Index("example") as index:
        report = index.sync(folder)
        for failure in report.failed:
            print(f"could not read {failure.source}: {failure.message}", file=sys.stderr)
        for hit in index.search(" ".join(words), k=3).hits:
            where = " › ".join(hit.heading)
            print(f"{hit.rank}. {hit.source} {where}")
            print(f"   {' '.join(hit.text.split())[:200]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
