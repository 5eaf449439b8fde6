"""What a mistake of a user is, its prose, and how it is shown."""
