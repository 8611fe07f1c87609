"""Data sets and the paper's prompt files: what exists, where it is kept, how it is fetched, checked and read.

Nothing here is part of the package, for size or for licence; a replay needs none of it. Each file is known by its
SHA-256 and its number of rows (`catalogue`), is fetched once into a folder of the user's (`folder`, `install`), and is
checked again whenever it is read (`rows`). docs/data.md tells it all. A user's own questions are `user_file`'s.
"""
