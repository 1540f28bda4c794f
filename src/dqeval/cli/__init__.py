"""The command line: one file per command, named after it; `app` puts them together, `entry` starts it."""
