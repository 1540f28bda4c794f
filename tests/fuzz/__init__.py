"""Hostile input for everything that reads some: each must end in a result, or in one sentence and exit code 2.

``python -m tests.fuzz --seed 1 --inputs 100000`` tries as many as one likes, and says what came of them.
"""
