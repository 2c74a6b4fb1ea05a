"""The commands: a file for each, with its name.

A command imports what it needs when it runs, so that `bliss --help` imports neither numpy nor a plugin.
"""
