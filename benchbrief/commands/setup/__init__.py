"""Commands for everything that benchbrief needs: hosts, extensions, editors, shells."""
