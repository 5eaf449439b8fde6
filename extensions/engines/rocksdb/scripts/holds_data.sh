#!/bin/sh
# Says whether the directory $1 holds the data set $3, by the marker $2 and the list of files $4.
. parts/written.sh
cd -- "$1" && written "$2" "$3" "$4"
