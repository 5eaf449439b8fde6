"""What every room speaks of: plans, events of a journal, specs of extensions, units, and the rules they share."""
