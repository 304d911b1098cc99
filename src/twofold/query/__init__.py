"""Questions: what a user typed, taken apart into words, requirements and exclusions."""
