"""A store in a bucket of an object storage (S3): immutable objects, and one head that is replaced on a condition."""
