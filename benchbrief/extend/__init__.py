"""Everything that an extension may import from benchbrief, in one module for each kind of extension.

`spec` is pure data: an extension's description of itself, which `bench check` reads. `common` is for all extensions
that run something. Each other door is for one kind of extension. An extension states the version number that it needs,
`api=3` for example, in its spec. The doors stay the same as long as `API` has that number; all other modules of
benchbrief may change at any time.
"""
