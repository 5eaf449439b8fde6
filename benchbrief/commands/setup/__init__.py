"""Commands for what benchbrief itself needs: hosts, extensions, editors, shells."""
