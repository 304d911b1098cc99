"""Stores: where a collection is kept. Each passes the contract suite in `tests/contracts/test_stores.py`."""
