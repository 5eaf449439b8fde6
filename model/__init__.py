"""What all other folders share: plans, events of a journal, specs of extensions, units, and common rules."""
