"""Searching: a query becomes candidates, one fused ranking, and a result that explains itself."""
