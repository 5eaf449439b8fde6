"""Programs on a host: find them, check that they meet requirements, and compute their digests.

`from benchbrief.extend import programs`.
"""

from benchbrief.runners.hosts.tool_discovery import FoundTool, check, digest, find, find_first, find_program, tool_dirs

__all__ = ["FoundTool", "check", "digest", "find", "find_first", "find_program", "tool_dirs"]
