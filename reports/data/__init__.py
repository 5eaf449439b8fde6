"""The data of briefs: the results in the form that a report reads, and the structure of a brief's view."""
