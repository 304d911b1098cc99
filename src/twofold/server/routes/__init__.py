"""Routes: the native API and the APIs of other systems."""
