"""What a run reaches: its hosts, what is found and runs on them, and their time; real, or simulated."""
