#!/bin/sh
# Prints the last line of df for the path $1, then the first entry of the directory, if it has one.
p=$1
while [ ! -e "$p" ]; do p=$(dirname -- "$p"); done
# shellcheck disable=SC2012  # the name is only shown
[ -d "$p" ] && [ -w "$p" ] && df -Pk -- "$p" | tail -n 1 && ls -A -- "$1" 2>/dev/null | head -n 1
