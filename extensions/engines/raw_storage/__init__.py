"""An engine for raw storage: a file or a block device without a database."""
