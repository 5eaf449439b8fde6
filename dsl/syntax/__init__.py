"""From text to syntax tree: the grammar, the parser, the nodes and their spans."""
