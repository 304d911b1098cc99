"""The HTTP server: the native API, compatible APIs, and the web application."""
