"""What a command keeps for all the hosts that it reaches: heartbeats, waits, and turns to connect."""
