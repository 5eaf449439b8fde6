"""Objects with names and digests, in a folder or on S3."""
