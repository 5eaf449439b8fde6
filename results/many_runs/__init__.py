"""The runs of a folder or a shared store, read all at once, as a site shows them."""
