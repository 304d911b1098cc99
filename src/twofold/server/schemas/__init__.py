"""Schemas: what requests may hold and what responses look like."""
