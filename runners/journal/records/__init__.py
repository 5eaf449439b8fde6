"""The types of the journal's records, by what they are of; `runners/journal/events.py` has them all."""
