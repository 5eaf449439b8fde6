"""What `bench doctor` checks on hosts before a run: tools, places, room, load, and what an earlier run has left."""
