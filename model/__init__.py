"""Code that all other folders share: plans, journal records, specs of extensions, units, and common rules."""
