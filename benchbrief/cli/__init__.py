"""Code that all commands share: options, exit codes and output."""
