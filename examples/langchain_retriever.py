"""Retrieve documents for a LangChain chain: `pip install 'twofold[langchain]'`."""

from twofold import Index
from twofold.adapters.langchain import TwofoldRetriever

with Index(":memory:") as index:
    index.add("The tower closes at 23:45 in summer.", source="hours.txt")
    index.add("Tickets for the lift cost 36 euros.", source="prices.txt")
    retriever = TwofoldRetriever(index=index, k=1)
    for document in retriever.invoke("When does the tower close?"):
        print(document.metadata["source"], round(document.metadata["twofold"]["score"], 2), document.page_content)
