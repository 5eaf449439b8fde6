#!/bin/sh
# Prints how many bytes the file $2 in the directory $1 has, if it is a regular file.
cd -- "$1" && [ -f "$2" ] && [ ! -L "$2" ] && stat -c %s -- "$2"
