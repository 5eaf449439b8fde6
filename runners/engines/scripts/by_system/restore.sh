#!/bin/sh
# Replaces all that is in the directory $1 by what its snapshot holds, and looks whether it is that.
: "${real?}" "${marker?}"
mend || exit 1
[ ! -e "$real" ] || [ -f "$real/$marker" ] || {
    echo "$real does not hold the marker $marker, so it is not ours: empty it by hand, or name another \`path\`"
    exit 1
}
shown=$(show) || { hide; echo "there is no snapshot of $real: a new run loads the data again"; exit 1; }
whole "$shown"
changed=$?
hide
[ "$changed" = 0 ] || { echo "the files of the snapshot of $real have changed: a new run loads the data again"; exit 1; }
put_back || exit 1
whole "$real" || { echo "after the restore the files in $real are not those of its snapshot: does another program write there?"; exit 1; }
