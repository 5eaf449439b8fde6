#!/bin/sh
# Writes the text $2 into the marker of the directory $1.
#
# The marker is renamed into place: its text is complete or absent.
: "${marker?}"
cd -- "$1" && [ -f "$marker" ] || { echo @directory_unowned; exit 1; }
printf %s "$2" >"$marker.new" && sync -- "$marker.new" && mv -- "$marker.new" "$marker"
