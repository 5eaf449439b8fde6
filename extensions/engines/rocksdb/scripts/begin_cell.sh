#!/bin/sh
# Keeps the list $3 of the files with which a cell begins in the directory $1. When it `writes` ($4), the list $2 of those
# that it finds is void until it has ended. Says how many cells wrote to the data set $6 before, by the marker $5.
. parts/written.sh
cd -- "$1" || exit 1
data_files >"$3" && { [ "$4" != writes ] || rm -f -- "$2"; }
written "$5" "$6" ''
