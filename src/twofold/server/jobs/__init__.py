"""Jobs: work that outlives a request, kept in a database and resumed after a restart."""
