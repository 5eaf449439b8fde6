"""From experiments to cells: each combination of what is varied, in the order in which it is measured."""
