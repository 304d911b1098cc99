"""Retrieve nodes for a LlamaIndex query engine: `pip install 'twofold[llama-index]'`."""

from twofold import Index
from twofold.adapters.llama_index import TwofoldRetriever

with Index(":memory:") as index:
    index.add("The tower closes at 23:45 in summer.", source="hours.txt")
    index.add("Tickets for the lift cost 36 euros.", source="prices.txt")
    for node in TwofoldRetriever(index, k=1).retrieve("When does the tower close?"):
        print(node.metadata["source"], round(node.score or 0.0, 2), node.text)
