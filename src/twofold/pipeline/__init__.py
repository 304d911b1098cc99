"""The sentences: prepare, sync, search. Written against the ports; no store and no model is known here by name."""
