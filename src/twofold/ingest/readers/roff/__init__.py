"""Manual pages: what the typesetter's language of Unix says, in the macros of man(7) and mdoc(7)."""
