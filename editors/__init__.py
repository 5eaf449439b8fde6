"""What editors need: settings for each, and highlighting made from the checker's tables (`python -m editors`)."""
