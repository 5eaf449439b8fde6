#!/bin/sh
# Prints the first of the candidates that is a program, with its links resolved.
#
# Not those that lead to a program of another name: it may be several programs, and do what it is called by.
for candidate do
    # shellcheck disable=SC2088  # a tilde that stands in a spec or a variable
    case $candidate in
        "~/"*) candidate=$HOME/${candidate#"~/"} ;;
        */*) ;;
        *) candidate=$(command -v -- "$candidate") ;;
    esac
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then
        found=$(readlink -f -- "$candidate")
        if [ "${found##*/}" != "${candidate##*/}" ]; then
            found=$(cd -- "$(dirname -- "$candidate")" && pwd -P)/${candidate##*/}
        fi
        echo "$found"
        exit 0
    fi
done
exit 1
