#!/bin/sh
# Prints the version of openload, the program $1, and what it says about itself. Fails when it is older than $2.
said=$("$1" version) || exit
version=$(printf '%s\n' "$said" | sed -n 's/.*"version":"\([^"]*\)".*/\1/p')
older=$(printf '%s\n%s\n' "${version:-0}" "$2" | awk -F. '
    NR == 1 { for (i = 1; i <= 3; i++) its[i] = $i + 0 }
    NR == 2 { for (i = 1; i <= 3; i++) if (its[i] != $i + 0) { if (its[i] < $i + 0) print "older"; exit } }')
if [ "$older" ]; then
    echo "$1 is version ${version:-unknown}, and $2 is needed: build it again with \`make setup\` in a checkout, or remove it" \
        "from a host other than the controller, which then gets a copy of the controller's"
    exit 1
fi
printf '%s\n%s\n' "$version" "$said"
