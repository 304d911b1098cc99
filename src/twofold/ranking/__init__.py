"""How candidates are ordered: normalize the retrievers' scores, then fuse them. Pure functions, no store or model."""
