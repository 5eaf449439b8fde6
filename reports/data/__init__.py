"""What briefs are made of: the results as a report reads them, and the form of its view."""
