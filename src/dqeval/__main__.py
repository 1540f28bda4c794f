"""``python -m dqeval``."""

from dqeval.cli import main

main()
