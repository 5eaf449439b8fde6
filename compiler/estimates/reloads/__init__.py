"""Which data sets are loaded or reset again and again, what that costs, and which other reset would spare it."""
