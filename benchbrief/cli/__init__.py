"""What every command shares: options, exit codes, and how things are shown."""
