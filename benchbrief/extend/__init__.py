"""Everything that an extension may import from benchbrief, in one module for each kind of extension.

`spec` is pure data: an extension's description of itself, which `bench check` reads. `common` is for all extensions
that run something. Each other module is for one kind of extension. An extension's spec states the version number that
it needs, such as `api=3`. These modules stay the same as long as `API` has that number. All other modules of benchbrief
may change at any time.
"""
