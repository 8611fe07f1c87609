"""Data sets and prompt files from elsewhere: fetched, checked, read."""
