"""Users' mistakes as data, how they are worded, and how they are shown."""
