"""Text to syntax tree: grammar, spans, diagnostics, formatter."""
