"""Running a plan: from the plan to a journal and raw results."""
