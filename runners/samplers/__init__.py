"""Programs that run on the controller as jobs, to read what no tool reads; they import nothing of the rest."""
