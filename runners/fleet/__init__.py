"""Running each lane as a process of its own, in a folder of its own, and merging the lanes into one run."""
