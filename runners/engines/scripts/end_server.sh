#!/bin/sh
# Tells the server of the directory $1 to end.
. parts/is_ours.sh
data=$1
pid=$(cat -- "$data.pid" 2>/dev/null)
if is_ours; then kill "$pid"; fi
