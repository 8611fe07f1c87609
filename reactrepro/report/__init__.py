"""Reports in words and as data. Computes no score, and lets nothing from a recording act on a terminal."""
