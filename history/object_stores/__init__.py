"""Objects with names and digests, stored in a folder or on S3."""
