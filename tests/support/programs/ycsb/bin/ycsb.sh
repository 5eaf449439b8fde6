#!/bin/sh
# The YCSB of the set-up. A run that has no target gets one that leaves the processor to other tests, unless FULL_SPEED is
# set: a search needs a tool that saturates.
case "$FULL_SPEED $*" in
    *" -target "*) ;;
    " run "*) set -- "$@" -target 400 ;;
esac
# Over SSH, the environment of the tests does not arrive.
export JAVA_OPTS="${JAVA_OPTS--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}"
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
exec "$here/../../../../../.tools/ycsb/bin/ycsb.sh" "$@"
