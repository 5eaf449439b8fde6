#!/bin/sh
# Tells the server of the directory $1 to end.
. parts/is_ours.sh
pid='' since=''
if [ -f "$1.pid" ]; then read -r pid since <"$1.pid"; fi
if is_ours; then kill "$pid"; fi
