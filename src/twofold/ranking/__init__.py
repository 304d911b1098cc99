"""How candidates are put in order: normalise the arms' scores, then fuse them. Pure functions; no store, no model."""
