"""fio's outputs."""
