"""Programs on a host: where they are looked for, whether they fulfil what is required of them, and their digests.

`from benchbrief.extend import programs`."""

from benchbrief.runners.hosts.tool_discovery import FoundTool, check, digest, find, find_first, find_program, tool_dirs

__all__ = ["FoundTool", "check", "digest", "find", "find_first", "find_program", "tool_dirs"]
