"""The runs of a team, in a folder or a bucket: pushed, pulled, listed, queried and collected."""
