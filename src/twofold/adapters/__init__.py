"""twofold in the terms of LangChain, LlamaIndex and Haystack, each an extra of its own.

Nothing here is imported by twofold itself; import the module of the framework you use.
"""
