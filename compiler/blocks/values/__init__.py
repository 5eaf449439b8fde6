"""What attributes may hold: shapes, units, and the tables of all blocks."""
