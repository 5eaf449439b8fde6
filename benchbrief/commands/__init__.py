"""The subcommands of `bench`. Each is a module with a click command named `command`; each group is a folder."""
