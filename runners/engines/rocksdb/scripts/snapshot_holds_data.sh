#!/bin/sh
# Prints 0 when the snapshot $4 of the directory $1 holds the data set $3, by the marker $2; ends with 1 if not.
cd -- "$1/$4" && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
[ "$(cat -- "$2")" = "$3 $(cat IDENTITY)" ] && echo 0
