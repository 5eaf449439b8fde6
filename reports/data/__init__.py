"""The data of briefs: the results as a report reads them, and the structure of a brief's view."""
