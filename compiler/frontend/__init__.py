"""Files, declarations and names: what a spec declares, and what each name refers to."""
