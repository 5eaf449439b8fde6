"""Runs lanes as batch jobs of Slurm (https://slurm.schedmd.com/)."""
