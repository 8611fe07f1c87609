"""Who has a request answered: from a cassette (`replay`, `wire`), or by a server (`live`).

SDKs and vcrpy are imported in this room and nowhere else, and `replay` imports neither.
"""
