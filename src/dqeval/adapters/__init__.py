"""dqeval beside other libraries: one module per library, imported by name, such as ``dqeval.adapters.tsb_ad``."""
