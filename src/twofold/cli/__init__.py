"""The command line: each command is a function that turns words into one call of `Index` and draws what comes back."""
