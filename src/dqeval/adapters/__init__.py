"""dqeval beside other libraries: a module per library, imported by name, as in ``import dqeval.adapters.tsb_ad``."""
