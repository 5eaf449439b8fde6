"""A probe for a host's TCP: connections, segments, retransmissions and full listen queues."""
