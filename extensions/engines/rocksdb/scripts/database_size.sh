#!/bin/sh
# Prints how many bytes the database in $1 takes; `none` when there is none.
#
# Our marker and snapshot do not count, nor RocksDB's own log, which grows by a file with each start.
[ -f "$1/CURRENT" ] || { echo none; exit; }
du -s -B1 --exclude='BENCHBRIEF*' --exclude=LOG --exclude='LOG.old.*' -- "$1" | cut -f 1
