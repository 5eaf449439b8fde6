"""Users' mistakes as data, with their wording and the way they are shown."""
