"""The HTTP server: what `twofold serve` runs."""
