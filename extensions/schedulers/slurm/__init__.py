"""Lanes as batch jobs of Slurm (https://slurm.schedmd.com/)."""
