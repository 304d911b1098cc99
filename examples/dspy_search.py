"""A search tool for a DSPy program: any function from a query to passages is one."""

from twofold import Index

index = Index(":memory:")
index.add("The tower closes at 23:45 in summer.", source="hours.txt")
index.add("Tickets for the lift cost 36 euros.", source="prices.txt")


def search(query: str, k: int = 3) -> list[str]:
    """Return the passages that answer a query best; pass it to `dspy.ReAct(signature, tools=[search])`."""
    return [hit.text for hit in index.search(query, k=k).hits]


print(search("When does the tower close?", k=1))
