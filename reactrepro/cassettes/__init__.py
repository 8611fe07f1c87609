"""The recording files: one format, one door.

`text` is the on-disk form, `model` what the files hold, `read` and `write` the way in and out, `runs` the folders,
`library` the layered roots, `matching` and `mismatch` what a replay compares. docs/formats.md specifies the bytes.
"""
