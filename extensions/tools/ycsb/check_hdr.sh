#!/bin/sh
# Prints the HdrHistogram of the YCSB in $1, or why it can't write logs.
#
# HdrHistogram before 2.1.10 writes logs with javax.xml.bind, which Java 11 no longer has.
set -- "$1"/lib/HdrHistogram-*.jar
[ -f "$1" ] || { echo "no HdrHistogram jar in lib/"; exit 1; }
java=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 |
    sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
case ${1##*/} in
    HdrHistogram-2.1.[0-9].jar | HdrHistogram-2.0.*.jar | HdrHistogram-1.*.jar)
        [ "${java:-0}" -lt 11 ] || { echo "${1##*/} can't write histogram logs on Java $java"; exit 1; } ;;
esac
echo "${1##*/}"
