"""Helpers that know nothing of anomalies: optional packages, file names, writing, places, versions."""
