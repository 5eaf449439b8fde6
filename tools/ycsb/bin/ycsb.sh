#!/bin/sh
# Usage: ycsb.sh load|run basic|mongodb [-P FILE]... [-p NAME=VALUE]... [-threads N] [-target N] [-s]
# Speaks the release's command line. Like it, the first line on standard output is the command it runs.
home=${YCSB_HOME:-$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)}

fail() {
    echo "[ERROR] $1"
    exit 1
}

case "$1" in
    load) mode=-load ;;
    run) mode=-t ;;
    *) fail "Found unknown command '$1': expected 'load' or 'run'." ;;
esac
binding=$2
class=$(sed -n "s/^$binding://p" "$home/bin/bindings.properties")
[ -n "$class" ] || fail "The binding '$binding' was not found in $home/bin/bindings.properties."
shift 2

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || fail "Java was not found: install a Java 17 runtime or set JAVA_HOME."
classpath="$home/lib/*:$home/$binding-binding/lib/*"
echo "$java $JAVA_OPTS -classpath $classpath site.ycsb.Client $mode -db $class $*"
# JAVA_OPTS is a list of words
# shellcheck disable=SC2086
set -- $JAVA_OPTS -classpath "$classpath" site.ycsb.Client "$mode" -db "$class" "$@"
# The set-up leaves it: with it, Java starts in half the time. `-Xlog` keeps Java silent where it does not fit.
[ ! -e "$home/classes.jsa" ] || set -- -XX:SharedArchiveFile="$home/classes.jsa" -Xlog:disable "$@"
exec "$java" "$@"
