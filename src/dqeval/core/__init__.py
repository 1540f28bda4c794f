"""What everything is made of: types, checked input, events, regions, thresholds, near ranges, registries."""
