"""What several tests use: real parts, small."""
