"""Where documents come from: folders, and behind the same port a git revision, pages of the web, rows of a database."""
