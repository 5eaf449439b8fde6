from functools import cache


@cache
def benchbrief_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version

    return version("benchbrief")
