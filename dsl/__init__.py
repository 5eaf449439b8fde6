"""From text to syntax tree: the grammar, spans, diagnostics, and the formatter."""
