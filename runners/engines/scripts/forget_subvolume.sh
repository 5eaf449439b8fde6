#!/bin/sh
# Removes the snapshot of the subvolume $1.
. parts/subvolume.sh
drop "$kept"
