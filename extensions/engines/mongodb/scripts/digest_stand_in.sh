#!/bin/sh
# Prints a digest of the launcher $1 of the embedded MongoDB server, and of its jars.
cat -- "$1" "${1%/bin/*}"/lib/*.jar | sha256sum
