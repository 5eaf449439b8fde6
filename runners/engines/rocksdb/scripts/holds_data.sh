#!/bin/sh
# Prints how many cells wrote to the data set $3 in the directory $1, by the marker $2; ends with 1 when it holds another.
cd -- "$1" && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
read -r dataset identity writers <"$2"
[ "$dataset $identity" = "$3 $(cat IDENTITY)" ] && echo "${writers:-0}"
