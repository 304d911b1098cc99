"""How candidates are put in order: normalize the arms' scores, then fuse them. Pure functions; no store, no model."""
