"""The subcommands of `bench`, one a module, each with a click command named `command`."""
