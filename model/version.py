from functools import cache


@cache
def benchbrief_version() -> str:
    """Return the version that the installed package has."""
    from importlib.metadata import version

    return version("benchbrief")
