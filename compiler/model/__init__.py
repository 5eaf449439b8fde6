"""The checked model of a spec: its profile applied, its names resolved, its parts fitted together."""
