"""The reset `undo` of MongoDB: it deletes by key what cells have inserted."""
