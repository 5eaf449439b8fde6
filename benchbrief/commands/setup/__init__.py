"""Commands for the setup of hosts, extensions, editors and shells."""
