"""Runs and specs from Python, for notebooks and scripts: `import benchbrief as bb`."""
