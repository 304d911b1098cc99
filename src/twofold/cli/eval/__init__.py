"""What `eval`, `tune` and `judge` read and print."""
