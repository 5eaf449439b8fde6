"""All that an extension may import of benchbrief, in one door for each kind.

`spec` has data alone: what an extension says of itself, which `bench check` reads. `common` has what all need that run
something. Each other door is for one kind of extension. What the doors have stays as it is under one number, `API`,
which an extension states in its spec: `api=3`. Other modules of benchbrief may change at any time.
"""
