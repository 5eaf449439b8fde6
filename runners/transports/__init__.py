"""Where commands run: this machine, over SSH, or a simulated fleet."""
