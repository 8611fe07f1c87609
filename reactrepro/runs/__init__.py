"""The only place where the rooms meet. One file per verb; no click, no printing."""
