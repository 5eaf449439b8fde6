#!/bin/sh
# Ends with 1, and says why, when there can be no snapshots of the directory $1. Changes nothing.
can
