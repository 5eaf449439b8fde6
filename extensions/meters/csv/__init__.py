"""Power from logs that meters write themselves."""
