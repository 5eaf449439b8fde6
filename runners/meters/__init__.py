"""What all power meters have, and the probe that reads those of a host."""
