"""Put documents in from anywhere: a database, an API, a program. Filters see their fields."""

from twofold import Condition, Index, Operator
from twofold.models.embedders.hashing import HashingEmbedder

TICKETS = [
    {"id": "T-1", "text": "The export fails with ERR-12345 on large files.", "team": "core", "year": 2024},
    {"id": "T-2", "text": "Please make the export faster.", "team": "web", "year": 2025},
    {"id": "T-3", "text": "Login fails after the password was changed.", "team": "web", "year": 2025},
]


def main() -> None:
    """Index three tickets, change one, and search those of one team."""
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for ticket in TICKETS:
            fields = {"team": str(ticket["team"]), "year": int(ticket["year"])}
            index.add(str(ticket["text"]), id=str(ticket["id"]), metadata=fields)
        index.add("Please make the export faster. Done in 2.1.", id="T-2", metadata={"team": "web", "year": 2025})
        for hit in index.search("export", filter=Condition("team", Operator.EQ, "web")).hits:
            print(hit.document, hit.text)
        index.delete("T-2")
        print(len(index.documents()), "left")


if __name__ == "__main__":
    main()
