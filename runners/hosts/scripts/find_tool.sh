#!/bin/sh
# Prints the first of the candidates that is a program, with its links resolved.
for candidate do
    # shellcheck disable=SC2088  # a tilde that stands in a spec or a variable
    case $candidate in
        "~/"*) candidate=$HOME/${candidate#"~/"} ;;
        */*) ;;
        *) candidate=$(command -v -- "$candidate") ;;
    esac
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then
        readlink -f -- "$candidate"
        exit 0
    fi
done
exit 1
