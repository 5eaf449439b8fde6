"""Places that hold objects under keys: a folder, or a bucket of S3. What a shared store needs of them."""
