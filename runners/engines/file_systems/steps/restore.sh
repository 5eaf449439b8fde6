#!/bin/sh
# Replaces all that is in the directory $1 by what its snapshot holds, and looks whether it is that.
: "${real?}"
mend || exit 1
shown=$(show) || { hide; echo "there is no snapshot of $real"; exit 1; }
whole "$shown"
changed=$?
hide
[ "$changed" = 0 ] || { echo "the files of the snapshot of $real have changed"; exit 1; }
put_back || exit 1
whole "$real" || { echo "after the restore the files in $real are not those of its snapshot"; exit 1; }
