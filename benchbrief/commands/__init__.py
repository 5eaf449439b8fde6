"""The subcommands of `bench`, one a module in a folder for each group, each with a click command named `command`."""
