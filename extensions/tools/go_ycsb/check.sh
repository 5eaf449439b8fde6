#!/bin/sh
# Prints the version of go-ycsb, which the program $1 holds in Go's build information, and starts it.
LC_ALL=C grep -aom 1 'github.com/pingcap/go-ycsb[[:space:]]v[0-9][0-9.]*' "$1" | cut -c 1-60
"$1" --help >/dev/null
