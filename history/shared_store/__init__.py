"""The runs of a team, in a folder or a bucket: pushing, pulling, listing, querying and garbage collection."""
