"""Settings in, components out: the only package that names concrete stores and models."""
