#!/bin/sh
# Ends with 1, and says why, when there can be no snapshots of the subvolume $1. Changes nothing.
. parts/subvolume.sh
. parts/subvolume_check.sh
