#!/bin/sh
# Prints the version of openload, the program $1, and what it tells of itself.
said=$("$1" version) || exit
printf '%s\n' "$said" | sed -n 's/.*"version":"\([^"]*\)".*/\1/p'
printf '%s\n' "$said"
