"""From labels and scores to results: evaluate, panel, score, compare, check, explain, verify."""
