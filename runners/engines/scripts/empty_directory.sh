#!/bin/sh
# Removes all contents of the directory $1 but its marker, which is cleared.
: "${marker?}"
cd -- "$1" && [ -f "$marker" ] || { echo @directory_unowned; exit 1; }
: >"$marker"
find . -mindepth 1 -maxdepth 1 ! -name "$marker" ! -name lost+found -exec rm -rf -- {} +
