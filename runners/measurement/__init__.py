"""What a measurement is: histograms, steadiness, counters and intervals."""
