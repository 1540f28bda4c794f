"""``python -m dqeval``."""

from dqeval.cli.entry import main

main()
