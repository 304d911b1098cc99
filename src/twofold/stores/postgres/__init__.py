"""A store in a PostgreSQL database: one truth for any number of servers, scored by the same code as a local index."""
